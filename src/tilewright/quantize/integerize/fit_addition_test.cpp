// Fitted additions against TFLite's definition, pair by pair.
#include "tilewright/quantize/integerize/fit_addition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

int64_t count_other_results(const QuantizedSum& sum, const FittedAddition& fit) {
  int64_t count = 0;
  for (int64_t a = -128; a <= 127; ++a) {
    for (int64_t b = -128; b <= 127; ++b) {
      const int64_t total = a * fit.multipliers.multiplier_a + b * fit.multipliers.multiplier_b + fit.bias;
      EXPECT_EQ(total, int32_t(total));
      const int64_t result = round_shift(total, fit.multipliers.shift) + sum.y.zero_point;
      count += clip(result, sum.output.low, sum.output.high) != twice_rounded_sum(sum, a, b);
    }
  }
  return count;
}

TEST(FitAddition, HalvesGoAwayFromZero) {
  const QuantizedSum sum{{0.5F, 0}, {0.5F, 0}, {1.0F, 0}, 1, {-128, 127}};
  EXPECT_EQ(twice_rounded_sum(sum, 1, 0), 1);
  EXPECT_EQ(twice_rounded_sum(sum, -1, 0), -1);
  const auto fit = fit_addition(sum);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->missed_pairs, 0);
  EXPECT_EQ(count_other_results(sum, *fit), 0);
}

TEST(FitAdditionClass, MissesAsManyPairsAsItSays) {
  Random random(test_seed());
  const int64_t cases = test_cases(40);
  int64_t missed = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const auto zero = [&] { return int32_t(random.between(-128, 127)); };
    const double scale = std::exp2(random.uniform() * 8 - 6);
    QuantizedSum sum{{float(scale * std::exp2(random.uniform() * 3 - 2)), zero()},
                     {float(scale * std::exp2(random.uniform() * 3 - 2)), zero()},
                     {float(scale), zero()},
                     random.chance(0.5) ? 1 : -1,
                     {-128, 127}};
    if (random.chance(0.2)) sum.b.scale = sum.a.scale;
    const auto fit = fit_addition(sum);
    ASSERT_TRUE(fit);
    ASSERT_EQ(count_other_results(sum, *fit), fit->missed_pairs) << "seed " << test_seed() << ", case " << i;
    missed += fit->missed_pairs;
  }
  EXPECT_LE(missed, cases / 4);  // of 65,536 pairs each
}

}  // namespace
}  // namespace tilewright
