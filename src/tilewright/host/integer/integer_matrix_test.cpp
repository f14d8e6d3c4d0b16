#include "tilewright/host/integer/integer_matrix.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/host/integer/integer_finish.h"

namespace tilewright {
namespace {

constexpr IntegerIsa kAll[] = {IntegerIsa::kPortable, IntegerIsa::kAvx2, IntegerIsa::kAvx512Vnni};

template <typename T>
void expect_exact(IntegerIsa isa, IntegerWidth width, int64_t low, int64_t high, Random& random) {
  const int64_t rows = random.between(1, 20), depth = random.between(0, 40),
                lanes = random.between(1, kMaxLanes);
  std::vector<int16_t> values(size_t(rows * depth));
  const bool bytes = width == IntegerWidth::kBytes;
  for (int16_t& v : values) v = int16_t(bytes ? random.between(-128, 127) : random.between(-32768, 32767));
  std::vector<T> source(2000);
  for (T& v : source) v = T(random.between(low, high));
  std::vector<int64_t> offsets;
  for (int64_t k = 0; k < depth; ++k) offsets.push_back(random.between(0, 1900));
  const int64_t first = random.between(0, 40);
  IntegerPanel panel(width, depth);
  panel.fill(source.data(), offsets, first, lanes);
  const IntegerMatrix matrix(values, rows, depth, width, isa);
  const int64_t from = random.between(0, rows - 1), to = random.between(from, rows);
  int64_t next = from;
  matrix.multiply(panel, from, to, [&](int64_t row, const int32_t* acc) {
    ASSERT_EQ(row, next++);
    uint32_t row_sum = 0;
    for (int64_t k = 0; k < depth; ++k) row_sum += uint32_t(int32_t(values[size_t(row * depth + k)]));
    ASSERT_EQ(matrix.row_sum(row), row_sum);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += uint32_t(values[size_t(row * depth + k)] * source[size_t(offsets[size_t(k)] + first + lane)]);
      }
      ASSERT_EQ(acc[lane], int32_t(sum)) << "row " << row << " lane " << lane;
    }
  });
  ASSERT_EQ(next, to);
}

TEST(IntegerMatrix, EveryInstructionSetIsExact) {
  for (const IntegerIsa isa : kAll) {
    if (!is_available(isa)) continue;
    const uint64_t seed = 600 + uint64_t(isa);
    Random random(seed);
    for (int round = 0; round < 400; ++round) {
      SCOPED_TRACE(::testing::Message() << "isa " << int(isa) << " round " << round << " seed " << seed);
      // Extremes often, so that sums reach their limits.
      const bool extreme = random.chance(0.3);
      expect_exact<int16_t>(isa, IntegerWidth::kWords, extreme ? 255 : -255, 255, random);
      if (choose_width(isa, true) == IntegerWidth::kBytes) {
        expect_exact<uint8_t>(isa, IntegerWidth::kBytes, extreme ? 255 : 0, 255, random);
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(IntegerMatrix, WidthFollowsMachineAndValues) {
  EXPECT_EQ(choose_width(IntegerIsa::kAvx2, true), IntegerWidth::kWords);
  EXPECT_EQ(choose_width(IntegerIsa::kAvx512Vnni, false), IntegerWidth::kWords);
  EXPECT_EQ(choose_width(IntegerIsa::kAvx512Vnni, true), IntegerWidth::kBytes);
  EXPECT_TRUE(is_available(IntegerIsa::kPortable));
  EXPECT_TRUE(is_available(best_integer_isa()));
}

TEST(IntegerFinish, VectorFormEqualsTheRule) {
  const uint64_t seed = 8;
  Random random(seed);
  for (int round = 0; round < 2000; ++round) {
    const int64_t count = random.between(1, 60);
    std::vector<int32_t> acc(static_cast<size_t>(count));
    const int magnitude = int(random.between(1, 31));
    for (int32_t& v : acc)
      v = int32_t(random.between(-(int64_t{1} << magnitude), (int64_t{1} << magnitude) - 1));
    const bool power = random.chance(0.3);
    Requantization scale{power ? 1 : int32_t(random.between(1 << 30, INT32_MAX)),
                         int32_t(random.between(0, power ? 31 : 62))};
    if (scale.shift >= 32 && random.chance(0.5)) scale.shift += kTwice;
    const int32_t low = int32_t(random.between(-128, 127));
    const OutputStage output{int32_t(random.between(-200, 200)), low, int32_t(random.between(low, 127))};
    const uint32_t base = uint32_t(random.next());
    std::vector<int8_t> expected(size_t(count) + 1, 77), actual(size_t(count) + 1, 77);
    requantize_lanes_portable(acc.data(), base, count, scale, output, expected.data());
    requantize_lanes(acc.data(), base, count, scale, output, actual.data());
    ASSERT_EQ(actual, expected) << "round " << round << " seed " << seed;
    for (size_t i = 0; i < size_t(count); ++i) {
      ASSERT_EQ(expected[i], requantize(int32_t(uint32_t(acc[i]) + base), scale, output.y_zero_point,
                                        output.clip_low, output.clip_high));
    }
  }
}

TEST(IntegerFinish, ScalesRoundHalfToEven) {
  const int32_t acc[] = {1, 3, 5, -1, -3, 1000, -1000, INT32_MAX};
  int8_t i8[8];
  scale_lanes(acc, 0, 8, 0.5f, 1, i8);
  EXPECT_EQ(std::vector<int>(i8, i8 + 8), (std::vector<int>{1, 3, 3, 1, -1, 127, -128, 127}));
  uint8_t u8[8];
  scale_lanes(acc, uint32_t(-1), 8, 0.5f, 128, u8);
  EXPECT_EQ(std::vector<int>(u8, u8 + 8), (std::vector<int>{128, 129, 130, 127, 126, 255, 0, 255}));
}

}  // namespace
}  // namespace tilewright
