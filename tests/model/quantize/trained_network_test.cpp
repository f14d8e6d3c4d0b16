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
        // Entropy clips the most: 3 % of the depthwise network's answers, as every layer clips again.
        const int64_t lost_percent = options.calibration == CalibrationMethod::kEntropy ? 4 : 2;
        EXPECT_GE(report.float_correct, kImages * 90 / 100);
        EXPECT_GE(report.quantized_correct, report.float_correct - kImages * lost_percent / 100);
      });
}

INSTANTIATE_TEST_SUITE_P(Fashion, TrainedNetworks, testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

TEST(TrainedNetwork, FewerBitsLoseLittle) {
  const Graph graph = trained_lenet();
  const FashionImages test = fashion_test_images(kImages);
  struct Width {
    int weights, activations;
    int64_t least_right_percent;
  };
  for (const Width width : {Width{6, 8, 88}, Width{4, 8, 85}, Width{4, 4, 70}, Width{2, 8, 20}}) {
    QuantizeOptions options;
    options.weight_bits = width.weights;
    options.activation_bits = width.activations;
    const AccuracyReport report =
        compare_accuracy(graph, integerize(quantized_lenet(options)), {test.images}, test.labels, 1);
    std::cout << width.weights << "-bit weights, " << width.activations
              << "-bit activations: " << to_string(report);
    EXPECT_GE(report.quantized_correct * 100, kImages * width.least_right_percent);
  }
}

}  // namespace
}  // namespace tilewright
