#include "tilewright/quantize/calibrate/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(QuantizeNumber, RoundsHalfToEvenAndSaturates) {
  const Quantization q{0.5f, 10};
  EXPECT_EQ(quantize_number(0.25f, q, -128, 127), 10);
  EXPECT_EQ(quantize_number(0.75f, q, -128, 127), 12);
  EXPECT_EQ(quantize_number(1e30f, q, -128, 127), 127);
  EXPECT_EQ(quantize_number(-std::numeric_limits<float>::infinity(), q, -128, 127), -128);
  EXPECT_EQ(quantize_number(std::nanf(""), q, -128, 127), 10);
  EXPECT_EQ(dequantize_number(12, q), 1.0);
}

TEST(EncodeAddition, PowersOfTwoStayPowersOfTwo) {
  EXPECT_EQ(encode_addition(0.25, 1.0), (AdditionMultipliers{1, 4, 2}));
  EXPECT_EQ(encode_addition(2.0, -1.0), (AdditionMultipliers{2, -1, 0}));
  EXPECT_EQ(encode_addition(1.0, 1.0), (AdditionMultipliers{1, 1, 0}));
}

TEST(EncodeAddition, InFloatHasTwentyOneBits) {
  EXPECT_EQ(encode_addition_in_float(0.25F, -1.0F), (AdditionMultipliers{1, -4, 2}));
  EXPECT_EQ(encode_addition_in_float(1.0F, 0.75F), (AdditionMultipliers{1 << 20, 3 << 18, 20}));
  EXPECT_EQ(encode_addition_in_float(1.75F, -0.75F), (AdditionMultipliers{7 << 18, -(3 << 18), 20}));
  EXPECT_EQ(encode_addition_in_float(0.375F, 0.1F)->shift, 22);
  EXPECT_FALSE(encode_addition_in_float(0.9e-4F, 1e-5F));  // a shift of 34
  EXPECT_FALSE(encode_addition_in_float(3e6F, 1));
}

TEST(EncodeAddition, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(encode_addition(0x1p22, 1));
  EXPECT_FALSE(encode_addition(0, 1));
  EXPECT_FALSE(encode_addition(1, std::numeric_limits<double>::infinity()));
}

TEST(EncodeAddition, SumsOfNineBitNumbersFitAndStayAccurate) {
  const uint64_t seed = 5;
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    const double a = std::exp2(random.uniform() * 20 - 12), b = std::exp2(random.uniform() * 20 - 12);
    const auto m = encode_addition(a, b);
    ASSERT_TRUE(m) << "seed " << seed << " ratios " << a << " " << b;
    const double bigger = std::max(a, b);
    EXPECT_LT(std::max(m->multiplier_a, m->multiplier_b), 1 << 22);
    EXPECT_LE((int64_t(m->multiplier_a) + m->multiplier_b) * 255, INT32_MAX);
    EXPECT_NEAR(std::ldexp(m->multiplier_a, -m->shift), a, bigger * 0x1p-21 + 0x1p-31);
    EXPECT_NEAR(std::ldexp(m->multiplier_b, -m->shift), b, bigger * 0x1p-21 + 0x1p-31);
  }
}

// Rounding carries ratios just below a power of two to it: the multiplier stays below 2^22, its limit.
TEST(EncodeAddition, RoundsUpToASmallerShift) {
  EXPECT_EQ(encode_addition(1 - 0x1p-30, 1 - 0x1p-30), (AdditionMultipliers{1 << 21, 1 << 21, 21}));
  EXPECT_EQ(encode_addition(-(0.25 - 0x1p-40), 0x1.8p-6)->multiplier_a, -(1 << 21));
  EXPECT_FALSE(encode_addition(0x1p22 - 0.25, 1));  // to 2^22 itself, which has no encoding
  EXPECT_EQ(encode_addition(0x1p22 - 0.75, 1), (AdditionMultipliers{(1 << 22) - 1, 1, 0}));
}

TEST(EncodeAdditionClass, MultipliersHaveTwentyTwoBitsAroundPowersOfTwo) {
  const int64_t cases = test_cases(20000);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  const auto ratio = [&] {
    const double below = 1 - std::ldexp(random.uniform(), -int(random.between(18, 45)));
    return std::ldexp(random.chance(0.5) ? below : 2 - below, int(random.between(-9, 20)));
  };
  for (int64_t i = 0; i < cases; ++i) {
    const double a = ratio(), b = ratio(), bigger = std::max(a, b);
    const auto m = encode_addition(a, b);
    ASSERT_TRUE(m) << "seed " << test_seed() << " ratios " << a << " " << b;
    ASSERT_LT(std::max(m->multiplier_a, m->multiplier_b), 1 << 22)
        << "seed " << test_seed() << " " << a << " " << b;
    ASSERT_NEAR(std::ldexp(m->multiplier_a, -m->shift), a, bigger * 0x1p-21) << "seed " << test_seed();
    ASSERT_NEAR(std::ldexp(m->multiplier_b, -m->shift), b, bigger * 0x1p-21) << "seed " << test_seed();
  }
}

}  // namespace
}  // namespace tilewright
