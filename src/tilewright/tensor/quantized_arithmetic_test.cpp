#include "tilewright/tensor/quantized_arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(QuantizedArithmetic, RoundsHalfUp) {
  EXPECT_EQ(round_shift(5, 1), 3);
  EXPECT_EQ(round_shift(-5, 1), -2);
  EXPECT_EQ(round_shift(-6, 2), -1);
  EXPECT_EQ(round_shift(7, 0), 7);
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const int64_t value = random.between(-(int64_t{1} << 40), int64_t{1} << 40);
    const int shift = int(random.between(0, 30));
    ASSERT_EQ(round_shift(value, shift), int64_t(std::floor(std::ldexp(double(value), -shift) + 0.5)));
  }
}

TEST(QuantizedArithmetic, EncodesScales) {
  EXPECT_EQ(encode_scale(1.0), (Requantization{1, 0}));
  EXPECT_EQ(encode_scale(0.25), (Requantization{1, 2}));
  EXPECT_EQ(encode_scale(0.5), (Requantization{1, 1}));
  EXPECT_EQ(encode_scale(2.0), (Requantization{2, 0}));
  EXPECT_EQ(encode_scale(8.0), (Requantization{8, 0}));
  EXPECT_EQ(encode_scale(0x1p30), (Requantization{1 << 30, 0}));
  EXPECT_THROW(encode_scale(0), Error);
  EXPECT_THROW(encode_scale(INFINITY), Error);
  EXPECT_THROW(encode_scale(0x1p31), Error);
  Random random(4);
  for (int i = 0; i < 10000; ++i) {
    const double scale = std::ldexp(1 + random.uniform(), int(random.between(-31, 29)));
    const Requantization r = encode_scale(scale);
    ASSERT_GT(r.multiplier, 0);
    ASSERT_GE(r.shift, 0);
    ASSERT_LE(r.shift, 62);
    ASSERT_NEAR(decode_scale(r) / scale, 1.0, 0x1p-30) << scale;
  }
}

// Down to the smallest double: 31 significant bits where shift 62 allows it, the nearest multiple of 2^-62
// below, and never less than that unit.
TEST(EncodeScaleClass, IsTheNearestThatTheEncodingHas) {
  const int64_t cases = test_cases(20000);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  for (int64_t i = 0; i < cases; ++i) {
    const int exponent = int(random.chance(0.02) ? random.between(-1074, -90) : random.between(-70, 30));
    // Also just below and above powers of two.
    const double mantissa = random.chance(0.2) ? 1 + random.uniform() * 0x1p-29 : 1 + random.uniform();
    const double scale = std::ldexp(random.chance(0.1) ? 2 - (mantissa - 1) * 0x1p-30 : mantissa, exponent);
    if (scale == 0 || scale >= 0x1p31) continue;
    const Requantization r = encode_scale(scale);
    const double error = std::abs(decode_scale(r) - scale), unit = 0x1p-62;
    ASSERT_TRUE(r.multiplier >= 1 && r.shift >= 0 && r.shift <= 62)
        << "seed " << test_seed() << ", " << scale;
    if (scale < unit) {
      ASSERT_EQ(r, (Requantization{1, 62})) << "seed " << test_seed() << ", " << scale;
    } else {
      ASSERT_LE(error, std::max(unit / 2, scale * 0x1p-31)) << "seed " << test_seed() << ", " << scale;
    }
  }
  EXPECT_EQ(encode_scale(0x1.8p-61), (Requantization{3, 62}));
  EXPECT_EQ(encode_scale(0x1.02p-62), (Requantization{1, 62}));
  EXPECT_EQ(encode_scale(5e-324), (Requantization{1, 62}));
  EXPECT_EQ(encode_scale(0x1p31 - 0.25), (Requantization{INT32_MAX, 0}));
  EXPECT_EQ(encode_scale(0x1p30 - 0.0625), (Requantization{1 << 30, 0}));
}

// TFLite's built-in kernels in their own words: a saturating, rounding, doubling product of which the high
// half is kept, and a division by a power of two that rounds halves away from zero.
int64_t by_built_in_kernels(int32_t accumulator, double scale) {
  int exponent = 0;
  const double mantissa = std::frexp(scale, &exponent);
  const int64_t multiplier = std::llround(mantissa * 0x1p31);
  const int64_t doubled = 2 * (int64_t(accumulator) << std::max(exponent, 0)) * multiplier;
  const int64_t high =
      (doubled + (doubled >= 0 ? int64_t{1} << 31 : 1 - (int64_t{1} << 31))) / (int64_t{1} << 32);
  const int64_t divisor = int64_t{1} << std::max(-exponent, 0);
  const int64_t half = divisor / 2;
  return high >= 0 ? (high + half) / divisor : -((-high + half) / divisor);
}

TEST(EncodeScaleTwiceClass, RoundsAsTheBuiltInKernels) {
  const int64_t cases = test_cases(100000);
  Random random(test_seed());
  int64_t differing = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const double scale = std::exp2(random.uniform() * 20 - 18);
    const double most = random.chance(0.5) ? 300 / scale : 0x1p28;
    const auto accumulator = int32_t((random.uniform() * 2 - 1) * std::min(most, 0x1p28));
    const Requantization r = encode_scale_twice(scale);
    ASSERT_TRUE(is_shift(r.shift));
    ASSERT_EQ(scaled(accumulator, r), by_built_in_kernels(accumulator, scale))
        << "seed " << test_seed() << ", " << accumulator << " * " << scale;
    differing += scaled(accumulator, r) != scaled(accumulator, encode_scale(scale));
  }
  EXPECT_GT(differing, cases / 1000);
}

TEST(QuantizedArithmetic, EncodesScalesToRoundTwice) {
  EXPECT_EQ(encode_scale_twice(1.0), (Requantization{1 << 30, 30}));
  EXPECT_EQ(encode_scale_twice(0.5), (Requantization{1 << 30, 31}));
  EXPECT_EQ(encode_scale_twice(0.25), (Requantization{1 << 30, kTwice + 32}));
  EXPECT_EQ(encode_scale_twice(0x1p-32), (Requantization{1 << 30, kTwice + 62}));
  EXPECT_EQ(encode_scale_twice(0x1p-33), (Requantization{1, kTwice + 62}));
  EXPECT_EQ(decode_scale(encode_scale_twice(0.25)), 0.25);
  EXPECT_FALSE(encode_scale_twice(0.25).is_power_of_two());
  EXPECT_THROW(encode_scale_twice(-1), Error);
  EXPECT_EQ(scaled(2, encode_scale_twice(0.25)), 1);
  EXPECT_EQ(scaled(-2, encode_scale_twice(0.25)), -1);  // a half, away from zero; once: 0
  EXPECT_EQ(scaled(1, encode_scale_twice(0.25)), 1);    // 1/4 to 1/2 to 1
  EXPECT_EQ(parse_rounding("twice"), Rounding::kTwice);
  EXPECT_EQ(parse_rounding("thrice"), std::nullopt);
}

TEST(QuantizedArithmetic, RequantizesWithoutOverflowAtTheExtremes) {
  const Requantization r{INT32_MAX, 31};
  EXPECT_EQ(requantize(INT32_MAX, r, 0, INT32_MIN, INT32_MAX), INT32_MAX - 1);
  EXPECT_EQ(requantize(INT32_MIN, {INT32_MAX, 62}, 3, -128, 127), 2);
  EXPECT_EQ(requantize(1000, {1, 2}, 5, -128, 127), 127);
  EXPECT_EQ(wrap(255, 8), -1);
  EXPECT_EQ(wrap(int64_t{1} << 31, 32), INT32_MIN);
}

}  // namespace
}  // namespace tilewright
