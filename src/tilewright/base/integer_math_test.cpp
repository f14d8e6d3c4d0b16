// ceil_div, round_up and powers of two against their definitions.
#include "tilewright/base/integer_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace tilewright {
namespace {

TEST(IntegerMathTest, PartsHoldTheWholeAndOneLessDoesNot) {
  for (int64_t a = 0; a < 40; ++a) {
    for (int64_t b = 1; b < 20; ++b) {
      const int64_t parts = ceil_div(a, b);
      EXPECT_GE(parts * b, a);
      EXPECT_LT((parts - 1) * b, a);
      EXPECT_EQ(round_up(a, b), parts * b);
    }
  }
  EXPECT_EQ(ceil_div(-2, 3), 0);
}

TEST(IntegerMathTest, NarrowArgumentsGiveWideResults) {
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_EQ(ceil_div(most, most), 1);
  EXPECT_EQ(round_up(most, 2), int64_t{most} + 1);
  EXPECT_EQ(round_up(~uint32_t{0}, 4096), uint64_t{1} << 32);
  EXPECT_EQ(round_up(uint64_t{1} << 63, 4096), uint64_t{1} << 63);
}

TEST(IntegerMathTest, FloorIsBelowBothSignsAlike) {
  for (int64_t a = -40; a < 40; ++a) {
    for (int64_t b = -9; b < 10; ++b) {
      if (b == 0) continue;
      const int64_t floor = floor_div(a, b), rest = a - floor * b;
      EXPECT_TRUE(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b) << a << " / " << b;
    }
  }
}

TEST(IntegerMathTest, PowersOfTwo) {
  for (int exponent = 0; exponent < 61; ++exponent) {
    const int64_t power = int64_t{1} << exponent;
    EXPECT_TRUE(is_power_of_two(power));
    EXPECT_EQ(floor_log2(power), exponent);
    EXPECT_EQ(floor_log2(2 * power - 1), exponent);
    EXPECT_FALSE(is_power_of_two(4 * power - 1)) << power;
  }
  EXPECT_TRUE(is_power_of_two(2));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_FALSE(is_power_of_two(-2));
  EXPECT_FALSE(is_power_of_two(std::numeric_limits<int64_t>::min()));
}

}  // namespace
}  // namespace tilewright
