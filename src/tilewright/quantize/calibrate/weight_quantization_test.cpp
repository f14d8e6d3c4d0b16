#include "tilewright/quantize/calibrate/weight_quantization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

double squared_error(const std::vector<float>& weights, double scale, double highest) {
  double sum = 0;
  for (const float w : weights) {
    const double rounded = std::clamp(std::nearbyint(double(w) / scale), -highest, highest) * scale;
    sum += (double(w) - rounded) * (double(w) - rounded);
  }
  return sum;
}

double scale_of(const std::vector<float>& weights, const NumberForm& form) {
  const Tensor tensor(Shape{1, int64_t(weights.size())}, std::span<const float>(weights));
  return select_weight_scales(tensor, 0, false, form).at(0);
}

// Many small weights and one that is up to 32 times as large.
std::vector<float> random_weights(Random& random) {
  std::vector<float> weights;
  for (int64_t n = random.between(4, 60); n > 0; --n) weights.push_back(float(2 * random.uniform() - 1));
  weights.push_back(float(std::exp2(5 * random.uniform())));
  return weights;
}

TEST(SelectWeightScalesClass, EightBitsCoverAndFewerMinimiseTheError) {
  const int64_t cases = test_cases(200);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t clipped = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const std::vector<float> weights = random_weights(random);
    const NumberForm form{.bits = int(random.between(2, 8)), .symmetric = true};
    const double highest = double(form.highest()), scale = scale_of(weights, form);
    const double covering = double(*std::max_element(weights.begin(), weights.end())) / highest;
    if (form.bits == 8) {
      ASSERT_DOUBLE_EQ(scale, covering);
      continue;
    }
    ASSERT_LE(scale, covering);
    clipped += scale < covering;
    double least = squared_error(weights, covering, highest);
    for (int percent = 20; percent < 100; ++percent) {
      least = std::min(least, squared_error(weights, covering * percent / 100, highest));
    }
    ASSERT_LE(squared_error(weights, scale, highest), least * (1 + 1e-9));
  }
  EXPECT_GT(clipped, cases / 10);
}

TEST(SelectWeightScalesClass, PowersOfTwoAreBetterThanTheirNeighbours) {
  const int64_t cases = test_cases(200);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const std::vector<float> weights = random_weights(random);
    const NumberForm form{.bits = int(random.between(2, 8)), .symmetric = true, .power_of_two = true};
    const double highest = double(form.highest()), scale = scale_of(weights, form);
    int exponent = 0;
    ASSERT_EQ(std::frexp(scale, &exponent), 0.5);
    const double error = squared_error(weights, scale, highest) * (1 - 1e-9);
    ASSERT_LE(error, squared_error(weights, scale * 2, highest));
    ASSERT_LE(error, squared_error(weights, scale / 2, highest));
  }
}

// 95 and 1 of 2^-6 are exact; 2^-7 has no number above 127 / 128.
TEST(SelectWeightScales, PowersOfTwoStartAtOneThatCovers) {
  const NumberForm form{.bits = 8, .symmetric = true, .power_of_two = true};
  EXPECT_EQ(scale_of({95.0f / 64, 1.0f / 64}, form), 1.0 / 64);
  EXPECT_EQ(scale_of({0, 0}, form), 0);
}

// Of 3 bits, 2^-1 covers 1.5 and makes 0.15 zero; 2^-2 makes it 0.25 and 2^-3 0.125, which a hundred of them
// are worth clipping the one.
TEST(SelectWeightScales, PowersOfTwoGoDownAsLongAsItPays) {
  std::vector<float> weights(100, 0.15f);
  weights.push_back(1.5f);
  EXPECT_EQ(scale_of(weights, {.bits = 3, .symmetric = true, .power_of_two = true}), 0.125);
}

}  // namespace
}  // namespace tilewright
