// Our own int8 of float models: accuracy on labelled images that calibration has not seen.
#include <gtest/gtest.h>

#include <iostream>

#include "model_data.h"
#include "shift_checks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

TEST(Accuracy, ResNet8OnCifar10) {
  TILEWRIGHT_REQUIRE_SHARED("onnx_from_tflite/ic_resnet8_fp32.onnx");
  TILEWRIGHT_REQUIRE_SHARED("data_cifar10/cifar10_test_first100.csv");
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_from_tflite" / "ic_resnet8_fp32.onnx"));
  const LabelledImages test = cifar10_lossless();
  ASSERT_EQ(test.labels.size(), 100u);
  const LabelledImages calibration = cifar10_jpeg(100, test);
  ASSERT_EQ(calibration.labels.size(), 100u);
  for (const auto scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    for (const auto method : {CalibrationMethod::kMinMax, CalibrationMethod::kPercentile,
                              CalibrationMethod::kEntropy, CalibrationMethod::kSquaredError}) {
      QuantizeOptions options;
      options.scales = scales;
      options.calibration = method;
      options.threads = 2;
      const Graph qdq = quantize(graph, {calibration.images}, options);
      IntegerizeReport coverage;
      const Graph integer = integerize(qdq, &coverage);
      Diagnostics problems;
      verify(qdq, problems);
      verify(integer, problems);
      ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
      EXPECT_EQ(coverage.integer_mac_share(), 1.0) << to_string(coverage);
      if (scales == ScaleKind::kPowerOfTwo) expect_only_shifts(integer);
      const AccuracyReport report = compare_accuracy(graph, integer, {test.images}, test.labels, 2);
      std::cout << (scales == ScaleKind::kReal ? "real scales, " : "powers of two, ") << name(method) << ": "
                << to_string(report);
      EXPECT_EQ(report.float_correct, 88);
      EXPECT_GE(report.quantized_correct,
                report.float_correct - (method == QuantizeOptions().calibration ? 2 : 10));
    }
  }
}

}  // namespace
}  // namespace tilewright
