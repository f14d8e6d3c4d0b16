#include "tilewright/tensor/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using Wide = __int128;

constexpr int kFraction = 22;

// floor(value / 2^shift) without shifting negative numbers.
Wide floor_divide(Wide value, int shift) {
  const Wide divisor = Wide{1} << shift;
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

TEST(FixedPoint, FinishesAsExactArithmeticDoes) {
  Random random(9100);
  for (int round = 0; round < 100000; ++round) {
    const int fraction = int(random.between(0, kMostFraction));
    FixedClip clip;
    if (random.chance(0.5)) {
      clip.low = int32_t(random.between(INT32_MIN, INT32_MAX));
      clip.high = int32_t(random.between(clip.low, INT32_MAX));
    }
    const int64_t sum = int64_t(random.next()) >> random.between(1, 63);
    const Wide half = fraction == 0 ? 0 : Wide{1} << (fraction - 1);
    const Wide exact = floor_divide(Wide{sum} + half, fraction);
    const Wide expected = exact < clip.low ? clip.low : exact > clip.high ? clip.high : exact;
    ASSERT_EQ(Wide{fixed_finish(uint64_t(sum), fraction, clip)}, expected) << sum << " " << fraction;
  }
}

// The largest sum plus the rounding constant passes 2^63: documented to wrap, as an adder does.
TEST(FixedPoint, RoundingWrapsWithTheSum) {
  EXPECT_EQ(fixed_finish(uint64_t{INT64_MAX}, 22), INT32_MIN);
  EXPECT_EQ(fixed_finish(uint64_t{INT64_MAX}, 0), INT32_MAX);
}

TEST(FixedPoint, AddsAndSaturates) {
  EXPECT_EQ(fixed_add(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(fixed_add(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(fixed_add(-5, 3, {0, 6}), 0);
  EXPECT_EQ(fixed_add(5, 3, {0, 6}), 6);
  EXPECT_EQ(fixed_add(2, 3, {0, 6}), 5);
}

TEST(FixedPoint, EncodesHalvesUpAndSaturates) {
  EXPECT_EQ(fixed_encode(1, kFraction), 1 << 22);
  EXPECT_EQ(fixed_encode(0.5, 0), 1);
  EXPECT_EQ(fixed_encode(-0.5, 0), 0);
  EXPECT_EQ(fixed_encode(-1.5, 0), -1);
  EXPECT_EQ(fixed_encode(std::nextafter(0.5, 0), 0), 0);
  EXPECT_EQ(fixed_encode(std::nextafter(-0.5, -1), 0), -1);
  EXPECT_EQ(fixed_encode(1e9, kFraction), INT32_MAX);
  EXPECT_EQ(fixed_encode(-1e9, kFraction), INT32_MIN);
  EXPECT_EQ(fixed_encode(2147483647.5, 0), INT32_MAX);
  EXPECT_EQ(fixed_encode(std::nan(""), kFraction), 0);
}

TEST(FixedPoint, DecodesWhatItEncodes) {
  Random random(9101);
  for (int round = 0; round < 100000; ++round) {
    const int fraction = int(random.between(0, kMostFraction));
    const int32_t fixed = int32_t(random.between(-(1 << 24), 1 << 24));  // exact in float
    ASSERT_EQ(fixed_encode(double(fixed_decode(fixed, fraction)), fraction), fixed);
    const int32_t any = int32_t(random.next());
    ASSERT_EQ(fixed_decode(any, fraction), float(std::ldexp(double(any), -fraction)));
  }
}

TEST(FixedPoint, AverageMultipliersAreRounded) {
  for (int64_t elements = 1; elements < 3000; ++elements) {
    ASSERT_EQ(fixed_average_multiplier(elements, kFraction), std::llround(0x1p22 / double(elements)));
  }
}

TEST(FixedPoint, LookupMeetsItsKnotsAndClamps) {
  std::vector<int32_t> table;
  Random random(9102);
  for (int i = 0; i < kFixedTableSize; ++i) table.push_back(int32_t(random.next()));
  for (int shift = 0; shift <= kMostInputShift; ++shift) {
    for (int64_t i = -256; i < 256; ++i) {
      ASSERT_EQ(fixed_lookup(int32_t(i * (int64_t{1} << shift)), table, shift), table[size_t(i + 256)]);
    }
    const int64_t end = int64_t{1} << (8 + shift);
    EXPECT_EQ(fixed_lookup(INT32_MIN, table, shift), table[0]);
    EXPECT_EQ(fixed_lookup(INT32_MAX, table, shift), fixed_lookup(int32_t(end - 1), table, shift));
  }
}

TEST(FixedPoint, LookupInterpolatesExactly) {
  Random random(9103);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int32_t> table;
    for (int i = 0; i < kFixedTableSize; ++i) table.push_back(int32_t(random.next()));
    const int shift = int(random.between(0, kMostInputShift));
    const int64_t end = int64_t{1} << (8 + shift);
    const int64_t x = random.between(-end, end - 1);
    const Wide piece = floor_divide(x, shift), rest = x - piece * (Wide{1} << shift);
    const Wide low = table[size_t(piece + 256)], high = table[size_t(piece + 257)];
    const Wide half = shift == 0 ? 0 : Wide{1} << (shift - 1);
    ASSERT_EQ(Wide{fixed_lookup(int32_t(x), table, shift)},
              low + floor_divide((high - low) * rest + half, shift));
  }
}

// The errors that docs/reference/arithmetic.md states, over every 61st input of twice the table's range.
double largest_error(const std::function<double(double)>& function, int input_shift) {
  const std::vector<int32_t> table = fixed_table(function, kFraction, input_shift);
  double largest = 0;
  for (int64_t x = -(int64_t{1} << 27); x < int64_t{1} << 27; x += 61) {
    const double exact = function(std::ldexp(double(x), -kFraction));
    const double error = std::ldexp(fixed_lookup(int32_t(x), table, input_shift), -kFraction) - exact;
    largest = std::max(largest, std::abs(error));
  }
  return largest;
}

TEST(FixedPoint, StatedErrorsOfSigmoidAndTanh) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double sigmoid_error = largest_error(sigmoid, 18);
  const double tanh_error = largest_error([](double x) { return std::tanh(x); }, 17);
  RecordProperty("sigmoid", std::to_string(sigmoid_error));
  RecordProperty("tanh", std::to_string(tanh_error));
  EXPECT_LT(sigmoid_error, 4.8e-5);
  EXPECT_GT(sigmoid_error, 4.5e-5);
  EXPECT_LT(tanh_error, 9.5e-5);
  EXPECT_GT(tanh_error, 9.0e-5);
}

// A function with one corner, at 0, needs no more than two pieces: within one step everywhere.
TEST(FixedPoint, LeakyRectifiersAreExactToOneStep) {
  Random random(9104);
  for (int round = 0; round < 200; ++round) {
    const double slope = random.uniform();
    const auto function = [&](double x) { return x < 0 ? slope * x : x; };
    const std::vector<int32_t> table = fixed_table(function, kFraction, kMostInputShift);
    for (int i = 0; i < 200; ++i) {
      const int32_t x = int32_t(random.next());
      ASSERT_LE(std::abs(double(fixed_lookup(x, table, kMostInputShift)) - function(double(x))), 1.0) << x;
    }
    EXPECT_LE(std::abs(double(fixed_lookup(INT32_MAX, table, kMostInputShift)) - double(INT32_MAX)), 1.0);
    EXPECT_EQ(fixed_lookup(0, table, kMostInputShift), 0);
  }
}

}  // namespace
}  // namespace tilewright
