// Float networks in wide fixed point (Q10.22): random ones against their float results, and trained ones by
// the classes they choose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

#include "model_data.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/load_model.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/fixed_point_check.h"
#include "tilewright/quantize/fixed_point_lowering.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/transform/random_graph.h"

namespace tilewright {
namespace {

constexpr int kQ22 = 22;

// 10 log10(sum a^2 / sum (a - b)^2) over all outputs.
double signal_to_noise_db(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double signal = 1e-12, noise = 1e-24;
  for (size_t i = 0; i < a.size(); ++i) {
    for (int64_t e = 0; e < a[i].size(); ++e) {
      const double x = a[i].number_at(e), error = x - b[i].number_at(e);
      signal += x * x;
      noise += error * error;
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(FixedPointNetworks, RandomOnesFollowFloat) {
  constexpr uint64_t kSeed = 71000;
  constexpr int kNetworks = 100;
  int64_t macs = 0, fixed_macs = 0;
  std::map<std::string, int> reasons;
  std::vector<double> quality;
  for (uint64_t seed = kSeed; seed < kSeed + kNetworks; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Graph graph = random_graph(seed);
    if (seed % 3 != 0) graph = optimize(std::move(graph));
    FixedPointReport report;
    const Graph fixed = to_fixed_point(graph, kQ22, &report);
    Diagnostics problems;
    verify(fixed, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    macs += report.total_macs();
    fixed_macs += report.fixed_macs();
    for (const FixedPointRecord& record : report.records) {
      if (!record.fixed_op.empty() || record.macs == 0) continue;
      EXPECT_EQ(record.op, "ConvTranspose");
      ++reasons[record.op + ": " + record.reason];
    }
    const Tensor x = uniform_samples(graph.value(graph.inputs[0]).shape, 1, -1, 1, seed);
    EXPECT_FALSE(check_fixed_point(fixed, {x}).may_wrap());
    quality.push_back(signal_to_noise_db(run(graph, {x}), run(fixed, {x})));
    EXPECT_GT(quality.back(), 60);
  }
  std::sort(quality.begin(), quality.end());
  std::cout << kNetworks << " networks, " << 100.0 * double(fixed_macs) / double(macs)
            << "% of the MACs in fixed point; signal to noise: median " << quality[kNetworks / 2]
            << " dB, least " << quality.front() << " dB\n";
  for (const auto& [reason, count] : reasons) std::cout << count << " x " << reason << "\n";
  EXPECT_GE(double(fixed_macs), 0.9 * double(macs));
}

TEST(FixedPointNetworks, SurviveAFile) {
  const Graph fixed = to_fixed_point(optimize(random_graph(71500)), kQ22);
  const Graph read = parse_onnx(format_onnx(fixed));
  const Tensor x = uniform_samples(fixed.value(fixed.inputs[0]).shape, 1, -1, 1, 5);
  const std::vector<Tensor> before = run(fixed, {x}), after = run(optimize(read), {x});
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].identical(after[i]));
}

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
  TILEWRIGHT_REQUIRE_SHARED("onnx_mnist8/model.onnx");
  TILEWRIGHT_REQUIRE_SHARED("data_mnist/mnist_test_first100.csv");
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
  TILEWRIGHT_REQUIRE_SHARED("tf_lenet/lenet.pb");
  TILEWRIGHT_REQUIRE_SHARED("data_mnist/mnist_test_first100.csv");
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
  TILEWRIGHT_REQUIRE_SHARED("tf_lenet/lenet.pb");
  TILEWRIGHT_REQUIRE_SHARED("data_mnist/mnist_test_first100.csv");
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
  TILEWRIGHT_REQUIRE_SHARED(path);
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
