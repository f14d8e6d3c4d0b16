// Fitted scales against the rules they stand for, accumulator by accumulator.
#include "tilewright/quantize/integerize/fit_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// How many accumulators of the range have another result than the rule.
int64_t count_differences(const Requantization& r, const ScaleRule& rule, IntegerRange range,
                          IntegerRange output) {
  int64_t count = 0;
  for (int64_t acc = range.low; acc <= range.high; ++acc) {
    count += requantize(int32_t(acc), r, 0, int32_t(output.low), int32_t(output.high)) !=
             clip(rule(acc), output.low, output.high);
  }
  return count;
}

TEST(FitScaleClass, DiffersFromTheFloatProductAtMissedStepsOnly) {
  Random random(test_seed());
  int64_t exact = 0, fitted = 0, all_steps_met = 0;
  const int64_t cases = test_cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    const float scale = float(std::exp2(random.uniform() * 11 - 11));
    const int64_t width = int64_t(300 / double(scale)), zero = random.between(-128, 127);
    const IntegerRange range{-random.between(0, width), random.between(0, width)};
    const IntegerRange output{-128 - zero, 127 - zero};
    const ScaleRule rule = float_scale_rule(scale);
    const FittedScale fit = fit_scale(scale, rule, range, output);
    const int64_t differing = count_differences(fit.scale, rule, range, output);
    ASSERT_EQ(differing == 0, fit.missed_steps == 0) << "seed " << test_seed() << ", scale " << scale;
    ASSERT_GE(differing, fit.missed_steps);
    all_steps_met += fit.missed_steps == 0;
    fitted += differing;
    exact += count_differences(encode_scale(scale), rule, range, output);
  }
  EXPECT_GT(all_steps_met, cases / 2);
  EXPECT_LE(fitted, exact);
}

TEST(FitScale, MovesTheMultiplierToAStepThatTheExactOneMisses) {
  // 3 * 0.16666667F is 0.50000001, in float a half, which goes to 0.
  const float scale = 0x1.555556p-3F;
  const ScaleRule rule = float_scale_rule(scale);
  ASSERT_EQ(rule(3), 0);
  EXPECT_EQ(requantize(3, encode_scale(scale), 0, -128, 127), 1);
  const FittedScale fit = fit_scale(scale, rule, {0, 5}, {0, 10});
  EXPECT_EQ(fit.missed_steps, 0);
  EXPECT_EQ(requantize(3, fit.scale, 0, -128, 127), 0);
}

TEST(FitScale, HalvesThatAlternateMissAStep) {
  // 0.5 goes down to 0, 1.5 up to 2.
  EXPECT_GT(fit_scale(0.5, float_scale_rule(0.5F), {0, 100}, {0, 50}).missed_steps, 0);
  // A range without a half that goes down.
  EXPECT_EQ(fit_scale(0.5, float_scale_rule(0.5F), {2, 4}, {0, 50}), (FittedScale{encode_scale(0.5), 0}));
}

TEST(FitScale, AveragesOfEveryWindow) {
  for (int64_t count = 1; count <= 200; ++count) {
    for (const bool is_unsigned : {false, true}) {
      const IntegerRange range =
          is_unsigned ? IntegerRange{0, 255 * count} : IntegerRange{-128 * count, 127 * count};
      const IntegerRange output = is_unsigned ? IntegerRange{0, 255} : IntegerRange{-128, 127};
      const FittedScale fitted = fit_scale(1.0 / double(count), average_rule(count), range, output, 31);
      EXPECT_LE(fitted.scale.shift, 31);
      EXPECT_EQ(fitted.missed_steps, 0) << count;
      EXPECT_EQ(count_differences(fitted.scale, average_rule(count), range, output), 0) << count;
    }
  }
}

TEST(FitScale, TakesEveryScaleAndRange) {
  for (const float scale : {1e-19F, 1e-9F, 0.3F, 1.0F, 100.7F, 2e9F}) {
    for (const IntegerRange range :
         {IntegerRange{INT32_MIN, INT32_MAX}, IntegerRange{0, 0}, IntegerRange{-7, -7}}) {
      const FittedScale fit = fit_scale(scale, float_scale_rule(scale), range, {-128, 127});
      EXPECT_TRUE(fit.scale.multiplier > 0 && is_shift(fit.scale.shift)) << scale;
      EXPECT_EQ(fit_scale(scale, float_scale_rule(scale), range, {5, 5}),
                (FittedScale{encode_scale(scale), 0}));
    }
  }
}

TEST(EncodeCopy, HasEightBitsBehindThePointInFloat) {
  EXPECT_EQ(encode_copy(Rounding::kOnce, 0.3, 0.3F), encode_scale(0.3));
  EXPECT_EQ(encode_copy(Rounding::kFloat, 0.3, 0.3F), (Requantization{77, 8}));
  EXPECT_EQ(encode_copy(Rounding::kFloat, 0.003, 0.003F), encode_scale_twice(0.003));
  EXPECT_EQ(encode_copy(Rounding::kFloat, 130, 130), encode_scale_twice(130));
  EXPECT_EQ(encode_copy(Rounding::kTwice, 0.3, 0.3F), encode_scale_twice(0.3));
}

TEST(EncodeRounded, FollowsTheRounding) {
  const IntegerRange range{0, 100}, output{0, 50};
  EXPECT_EQ(encode_rounded(Rounding::kOnce, 0.5, 0.5F, range, output), encode_scale(0.5));
  EXPECT_EQ(encode_rounded(Rounding::kFloat, 1.0, 1.0F, range, output), encode_scale(1.0));
  EXPECT_EQ(encode_rounded(Rounding::kTwice, 0.25, 0.25F, range, output), encode_scale_twice(0.25));
}

}  // namespace
}  // namespace tilewright
