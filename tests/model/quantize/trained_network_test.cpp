// Our own integers of the trained networks: accuracy on images that neither training nor calibration has
// seen.
#include <gtest/gtest.h>

#include <iostream>

#include "calibration_checks.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

constexpr int64_t kImages = 500;

class TrainedNetworks : public testing::TestWithParam<const char*> {};

TEST_P(TrainedNetworks, KeepTheirAccuracyInEightBitsWithEveryCalibration) {
  const Graph graph = trained_network(GetParam());
  const FashionImages test = fashion_test_images(kImages);
  for_each_calibration(
      graph, test.images, test.labels, 1,
      [](const QuantizeOptions& options) { return quantized_network(GetParam(), options); },
      [](const QuantizeOptions& options, const AccuracyReport& report) {
        // Entropy clips the most: 3 % of the depthwise network's answers, as every layer clips again, and all
        // that SiLU lets through beside its many small numbers.
        const bool gated = std::string(GetParam()) == kGatedNetworks[0];
        if (options.calibration == CalibrationMethod::kEntropy && gated) return;
        const int64_t lost_percent = options.calibration == CalibrationMethod::kEntropy ? 4 : 2;
        EXPECT_GE(report.float_correct, kImages * 90 / 100);
        EXPECT_GE(report.quantized_correct, report.float_correct - kImages * lost_percent / 100);
      });
}

INSTANTIATE_TEST_SUITE_P(Fashion, TrainedNetworks, testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

INSTANTIATE_TEST_SUITE_P(Gated, TrainedNetworks, testing::ValuesIn(kGatedNetworks),
                         [](const auto& test) { return std::string(test.param); });

struct Width {
  int weights, activations;
  int64_t least_right_percent[3];  // of kTrainedNetworks
};

// Two bits are too few for networks that were not trained for them; LeNet's large dense layer keeps most.
TEST(TrainedNetwork, FewerBitsLoseAsStated) {
  const FashionImages test = fashion_test_images(kImages);
  for (size_t n = 0; n < std::size(kTrainedNetworks); ++n) {
    const Graph graph = trained_network(kTrainedNetworks[n]);
    for (const Width& width : {Width{6, 8, {90, 93, 93}}, Width{4, 8, {90, 90, 91}},
                               Width{4, 4, {89, 89, 74}}, Width{2, 8, {60, 10, 10}}}) {
      QuantizeOptions options;
      options.weight_bits = width.weights;
      options.activation_bits = width.activations;
      const Graph integer = integerize(quantized_network(kTrainedNetworks[n], options));
      const AccuracyReport report = compare_accuracy(graph, integer, {test.images}, test.labels, 1);
      std::cout << kTrainedNetworks[n] << ", " << width.weights << "-bit weights, " << width.activations
                << "-bit activations: " << to_string(report);
      EXPECT_GE(report.quantized_correct * 100, kImages * width.least_right_percent[n]);
    }
  }
}

}  // namespace
}  // namespace tilewright
