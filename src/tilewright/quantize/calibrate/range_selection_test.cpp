#include "tilewright/quantize/calibrate/range_selection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// 100,000 numbers of a Laplace distribution of scale 1 (both sides or the positive one), and one outlier.
Histogram laplace(bool one_sided, float outlier) {
  Random random(11);
  std::vector<float> numbers{outlier};
  for (int i = 0; i < 100000; ++i) {
    const double magnitude = -std::log(1 - random.uniform());
    numbers.push_back(float(one_sided || random.chance(0.5) ? magnitude : -magnitude));
  }
  Histogram h;
  h.add(numbers);
  return h;
}

constexpr NumberForm kAffine{8, false, false}, kSymmetric{8, true, false}, kPowerOfTwo{8, true, true};

TEST(SelectRange, MinMaxCoversEverythingAndZero) {
  Histogram h;
  h.add(std::vector<float>{2.0f, 5.0f});
  const RealRange range = select_range(h, CalibrationMethod::kMinMax, kAffine, 0);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 5);
}

TEST(SelectRange, PercentileIgnoresOutliers) {
  const Histogram h = laplace(true, 1000);
  const RealRange range = select_range(h, CalibrationMethod::kPercentile, kAffine, 99);
  EXPECT_EQ(range.low, 0);
  EXPECT_NEAR(range.high, -std::log(0.01), 0.6);
  const RealRange all = select_range(h, CalibrationMethod::kPercentile, kAffine, 100);
  EXPECT_EQ(all.high, 1000);
  const RealRange two = select_range(laplace(false, 100), CalibrationMethod::kPercentile, kAffine, 99);
  EXPECT_NEAR(two.high, -std::log(0.01), 0.3);
  EXPECT_NEAR(two.low, std::log(0.01), 0.3);
}

TEST(SelectRange, EntropyAndSquaredErrorCutALongTailButNotAUniformOne) {
  const Histogram tail = laplace(true, 200);
  const RealRange entropy = select_range(tail, CalibrationMethod::kEntropy, kAffine, 0);
  EXPECT_LT(entropy.high, 60);
  EXPECT_GT(entropy.high, 3);
  const RealRange squared = select_range(tail, CalibrationMethod::kSquaredError, kAffine, 0);
  EXPECT_LT(squared.high, 190);
  EXPECT_LT(expected_error(tail, quantization_for(squared, kAffine), kAffine),
            expected_error(tail, quantization_for({0, 200}, kAffine), kAffine));
  Histogram uniform;
  std::vector<float> numbers;
  for (int i = 0; i <= 100000; ++i) numbers.push_back(float(i) * 1e-5f * 3);
  uniform.add(numbers);
  for (auto method : {CalibrationMethod::kEntropy, CalibrationMethod::kSquaredError}) {
    EXPECT_NEAR(select_range(uniform, method, kAffine, 0).high, 3, 0.1) << int(method);
  }
}

TEST(QuantizationFor, CoversTheRange) {
  const Quantization affine = quantization_for({0, 5.1}, kAffine);
  EXPECT_EQ(affine.zero_point, -128);
  EXPECT_NEAR(dequantize_number(127, affine), 5.1, 1e-5);
  const Quantization symmetric = quantization_for({-1, 12.7}, kSymmetric);
  EXPECT_EQ(symmetric.zero_point, 0);
  EXPECT_NEAR(symmetric.scale, 0.1, 1e-6);
  EXPECT_EQ(quantization_for({-1, 12.7}, kPowerOfTwo).scale, 0.125f);
  EXPECT_EQ(quantization_for({-16, 1}, kPowerOfTwo).scale, 0.125f);  // -128 * 0.125 is exact
  EXPECT_EQ(quantization_for({0, 0}, kAffine), (Quantization{1, 0}));
  EXPECT_EQ(quantization_for({-7, 7}, {4, true, false}).scale, 1.0f);
}

TEST(SelectQuantization, PowersOfTwoTradeSaturationForResolution) {
  const Histogram h = laplace(false, 17);  // min-max needs 0.25; the bulk is below 8
  EXPECT_EQ(select_quantization(h, CalibrationMethod::kMinMax, kPowerOfTwo, 0).scale, 0.25f);
  const Quantization best = select_quantization(h, CalibrationMethod::kSquaredError, kPowerOfTwo, 0);
  EXPECT_LT(best.scale, 0.25f);
  EXPECT_LT(expected_error(h, best, kPowerOfTwo), expected_error(h, {0.25f, 0}, kPowerOfTwo));
}

// Of zeros the scale is 1, of tiny numbers one that ratios to other scales can be formed with.
TEST(SelectQuantization, ZerosAndTinyNumbersGetUsableScales) {
  for (auto method : {CalibrationMethod::kMinMax, CalibrationMethod::kPercentile, CalibrationMethod::kEntropy,
                      CalibrationMethod::kSquaredError}) {
    for (const NumberForm& form : {kAffine, kSymmetric, kPowerOfTwo}) {
      Histogram zeros;
      EXPECT_EQ(select_quantization(zeros, method, form, 99.9), (Quantization{1, 0})) << int(method);
      zeros.add(std::vector<float>(1000, 0.0f));
      EXPECT_EQ(select_quantization(zeros, method, form, 99.9), (Quantization{1, 0})) << int(method);
      Histogram tiny;
      tiny.add(std::vector<float>{0x1p-100f, -0x1p-100f, 0x1p-130f, 0.0f});
      const float scale = select_quantization(tiny, method, form, 99.9).scale;
      EXPECT_TRUE(scale == 1 || scale >= 0x1p-60f) << int(method) << ": " << scale;
    }
  }
}

}  // namespace
}  // namespace tilewright
