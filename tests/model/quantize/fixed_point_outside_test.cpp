// Trained float networks of others in wide fixed point (Q10.22 and others), by the classes they choose.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "model_data.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

constexpr int kQ22 = 22;

struct Digits {
  Tensor images{ElementType::kF32, Shape{100, 1, 28, 28}};  // 0..255
  std::vector<int64_t> labels;
};

Digits mnist_digits() {
  std::istringstream lines(read_text_file(shared_models() / "data_mnist" / "mnist_test_first100.csv"));
  Digits digits;
  const auto pixels = digits.images.mutable_data<float>();
  for (std::string line; std::getline(lines, line) && digits.labels.size() < 100;) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    const auto image = pixels.subspan(digits.labels.size() * 28 * 28, 28 * 28);
    numbers >> digits.labels.emplace_back();
    for (float& pixel : image) numbers >> pixel;
  }
  return digits;
}

// As the TensorFlow LeNet takes them: [100, 784], 0..1.
Digits lenet_digits() {
  Digits digits = mnist_digits();
  for (float& pixel : digits.images.mutable_data<float>()) pixel /= 255;
  digits.images = digits.images.reshaped({100, 784});
  return digits;
}

// Pixels of 0 to 255 make sums in the thousands: too much for the 10 integer bits of Q10.22, which the check
// says, and well within Q15.17.
TEST(FixedPointNetworks, Mnist8NeedsFifteenIntegerBits) {
  const Digits digits = mnist_digits();
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_mnist8" / "model.onnx"));
  FixedPointReport report;
  const Graph wide = to_fixed_point(graph, 17, &report);
  EXPECT_EQ(report.fixed_mac_share(), 1.0);
  EXPECT_TRUE(report.warnings.empty());
  const AccuracyReport accuracy = compare_accuracy(graph, wide, {digits.images}, digits.labels, 2);
  const FixedPointCheck check = check_fixed_point(wide, {digits.images}, 2);
  std::cout << to_string(accuracy) << to_string(report) << to_string(check);
  EXPECT_EQ(accuracy.float_correct, 99);
  EXPECT_EQ(accuracy.quantized_correct, 99);
  EXPECT_EQ(check.saturated(), 0);
  EXPECT_FALSE(check.may_wrap());
  EXPECT_GT(check_fixed_point(to_fixed_point(graph, kQ22), {digits.images}, 2).saturated(), 1000);
}

// The network and the number type of the TensorFlow-to-FPGA paper.
TEST(FixedPointNetworks, LeNetIsRightOn98Of100Digits) {
  const Digits digits = lenet_digits();
  const Tensor& images = digits.images;
  const Graph graph = optimize(load_model(shared_models() / "tf_lenet" / "lenet.pb"));
  FixedPointReport report;
  const Graph fixed = to_fixed_point(graph, kQ22, &report);
  EXPECT_EQ(report.fixed_mac_share(), 1.0);
  EXPECT_TRUE(report.warnings.empty());
  const AccuracyReport accuracy = compare_accuracy(graph, fixed, {images}, digits.labels, 2);
  const FixedPointCheck check = check_fixed_point(fixed, {images}, 2);
  std::cout << to_string(accuracy) << to_string(report) << to_string(check);
  EXPECT_EQ(accuracy.float_correct, 98);
  EXPECT_EQ(accuracy.quantized_correct, 98);
  EXPECT_EQ(check.saturated(), 0);
  EXPECT_FALSE(check.may_wrap());
}

// The same network in 8 bits, calibrated on the first twenty digits.
TEST(FixedPointNetworks, LeNetIsRightOn98Of100DigitsInEightBits) {
  const Digits digits = lenet_digits();
  const Graph graph = optimize(load_model(shared_models() / "tf_lenet" / "lenet.pb"));
  const Tensor first(Shape{20, 784}, digits.images.data<float>().first(20 * 784));
  IntegerizeReport report;
  const Graph integer = integerize(quantize(graph, {first}, {}), &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0);
  const AccuracyReport accuracy = compare_accuracy(graph, integer, {digits.images}, digits.labels, 2);
  std::cout << to_string(accuracy);
  EXPECT_EQ(accuracy.quantized_correct, 98);
}

TEST(FixedPointNetworks, ResNet8KeepsItsAnswers) {
  const std::filesystem::path path = "onnx_from_tflite/ic_resnet8_fp32.onnx";
  const LabelledImages images = cifar10_lossless();
  const Graph graph = optimize(read_onnx(shared_models() / path));
  FixedPointReport report;
  const Graph fixed = to_fixed_point(graph, kQ22, &report);
  const AccuracyReport accuracy = compare_accuracy(graph, fixed, {images.images}, images.labels, 2);
  std::cout << to_string(accuracy) << to_string(report)
            << to_string(check_fixed_point(fixed, {images.images}, 2));
  EXPECT_EQ(accuracy.agreements, 100);
  EXPECT_EQ(report.fixed_mac_share(), 1.0);
}

}  // namespace
}  // namespace tilewright
