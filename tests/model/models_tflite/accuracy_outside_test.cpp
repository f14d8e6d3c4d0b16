// What the TFLite networks get right on the stored images and features: the published counts and scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

fs::path models() { return outside_models(); }

// The form a network is run in: integers where it is quantised.
Graph runnable(const char* file) {
  const Graph graph = optimize(read_tflite(models() / file));
  return is_quantized(graph) ? integerize(graph) : graph;
}

// Scale and zero point of a graph's quantised input or output.
struct Border {
  double scale = 1;
  int64_t zero_point = 0;
};
Border border_of(const char* file, bool is_input) {
  const Graph graph = read_tflite(models() / file);
  Border border;
  for (const Node& node : graph.nodes) {
    const bool is_border = node.is(is_input ? "DequantizeLinear" : "QuantizeLinear");
    if (!is_border || graph.is_constant(node.input(0))) continue;
    border = {graph.constant_input(node, 1)->number_at(0), graph.constant_input(node, 2)->integer_at(0)};
    if (is_input) break;
  }
  return border;
}

int64_t best(const Tensor& scores) {
  int64_t best = 0;
  for (int64_t i = 1; i < scores.size(); ++i) {
    if (scores.number_at(i) > scores.number_at(best)) best = i;
  }
  return best;
}

// Right answers on the 100 lossless CIFAR-10 images; `offset` is added to the bytes of a pixel.
int right_cifar10(const char* file, int64_t offset) {
  const Executor executor(runnable(file));
  std::istringstream lines(read_text_file(models() / "data_cifar10" / "cifar10_test_first100.csv"));
  int right = 0, count = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    int64_t label = -1, pixel = 0;
    numbers >> label;
    Tensor image(executor.graph().value(executor.graph().inputs[0]).type, Shape{1, 32, 32, 3});
    for (int64_t i = 0; i < image.size() && numbers >> pixel; ++i) {
      image.set_number(i, double(pixel + offset));
    }
    right += best(executor.run({image})[0]) == label;
  }
  EXPECT_EQ(count, 100);
  return right;
}

TEST(TfliteAccuracy, ResNet8OnCifar10) {
  EXPECT_EQ(right_cifar10("tflite_mlperf_tiny/ic_resnet8_fp32.tflite", 0), 88);
  EXPECT_EQ(right_cifar10("tflite_mlperf_tiny/ic_resnet8_int8.tflite", -128), 86);
}

// The mean squared error of the autoencoder over the 196 windows of the feature file.
double anomaly_score(const char* file) {
  constexpr int64_t kFrames = 196, kStep = 128, kWindow = 640;
  const auto bytes = read_file(models() / "tflite_mlperf_tiny" / "ad_sample_features.f32.bin");
  std::vector<float> features(bytes.size() / sizeof(float));
  std::memcpy(features.data(), bytes.data(), bytes.size());
  const Executor executor(runnable(file));
  const ElementType type = executor.graph().value(executor.graph().inputs[0]).type;
  const bool is_integer = type == ElementType::kI8;
  const Border in = is_integer ? border_of(file, true) : Border{};
  const Border out = is_integer ? border_of(file, false) : Border{};
  double sum = 0;
  for (int64_t f = 0; f < kFrames; ++f) {
    Tensor window(type, Shape{1, kWindow});
    for (int64_t i = 0; i < kWindow; ++i) {
      const double x = features[size_t(f * kStep + i)];
      window.set_number(i, is_integer ? std::round(x / in.scale) + double(in.zero_point) : x);
    }
    const Tensor output = executor.run({window})[0];
    for (int64_t i = 0; i < kWindow; ++i) {
      const double y = (output.number_at(i) - double(out.zero_point)) * out.scale;
      sum += std::pow(double(features[size_t(f * kStep + i)]) - y, 2);
    }
  }
  return sum / double(kFrames * kWindow);
}

TEST(TfliteAccuracy, AutoencoderOnItsFeatureFile) {
  const double real = anomaly_score("tflite_mlperf_tiny/ad_autoencoder_fp32.tflite");
  const double integer = anomaly_score("tflite_mlperf_tiny/ad_autoencoder_int8.tflite");
  std::printf("anomaly score: float %.5f, int8 %.5f\n", real, integer);
  EXPECT_NEAR(real, 9.70710, 2e-5);
  // How the published one rounded its inputs is not known.
  EXPECT_NEAR(integer, 10.26029, 1e-2);
}

// Right answers on the 32 photos of `size` pixels; class 0 of the networks is the background.
int right_photos(const char* file, int64_t size) {
  const Executor executor(runnable(file));
  const auto bytes = read_file(models() / "data_images" /
                               ("images_32x" + std::to_string(size) + "x" + std::to_string(size) + "x3.u8"));
  std::istringstream lines(read_text_file(models() / "data_images" / "labels.csv"));
  std::string line;
  std::getline(lines, line);
  int right = 0, count = 0;
  for (const size_t each = size_t(size * size * 3); std::getline(lines, line); ++count) {
    Tensor image(ElementType::kU8, Shape{1, size, size, 3});
    std::memcpy(image.mutable_bytes().data(), bytes.data() + size_t(count) * each, each);
    const int64_t found = best(executor.run({image})[0]) - 1;
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 3; ++i) std::getline(fields, field, ',');
    std::istringstream accepted(field);
    bool is_right = false;
    while (std::getline(accepted, field, ';')) is_right |= std::stoll(field) == found;
    right += is_right;
  }
  EXPECT_EQ(count, 32);
  return right;
}

TEST(TfliteAccuracy, MobileNetsOnPhotos) {
  EXPECT_EQ(right_photos("tflite_mobilenet/mobilenet_v2_1.0_224_uint8.tflite", 224), 32);
  EXPECT_EQ(right_photos("tflite_mobilenet/mobilenet_v1_0.25_128_uint8.tflite", 128), 20);
}

// The pixels of an 8-bit BMP file, whose last row comes first, read as signed bytes.
Tensor bmp_pixels(const fs::path& file) {
  constexpr int64_t kSize = 96;
  const auto bytes = read_file(file);
  Tensor image(ElementType::kI8, Shape{1, kSize, kSize, 1});
  for (int64_t row = 0; row < kSize; ++row) {
    std::memcpy(image.mutable_bytes().data() + row * kSize, bytes.data() + bytes.size() - (row + 1) * kSize,
                size_t(kSize));
  }
  return image;
}

TEST(TfliteAccuracy, PersonDetectionOnItsTwoImages) {
  const fs::path folder = models() / "tflite_micro_examples";
  // As shipped, with its malformed biases, and repaired.
  for (const char* file : {"tflite_micro_examples/person_detect_int8.tflite",
                           "tflite_micro_examples/person_detect_int8_fixed.tflite"}) {
    const Executor executor(runnable(file));
    EXPECT_EQ(best(executor.run({bmp_pixels(folder / "person.bmp")})[0]), 1) << file;
    EXPECT_EQ(best(executor.run({bmp_pixels(folder / "no_person.bmp")})[0]), 0) << file;
  }
}

TEST(TfliteAccuracy, PersonDetectionAsShippedIsReadWithAWarningPerMalformedBias) {
  const fs::path file = models() / "tflite_micro_examples" / "person_detect_int8.tflite";
  Diagnostics warnings;
  read_tflite(file, {}, &warnings);
  ASSERT_EQ(warnings.warnings().size(), 14u);
  for (const Diagnostic& warning : warnings.warnings()) {
    EXPECT_EQ(warning.op, "DEPTHWISE_CONV_2D");
    EXPECT_NE(warning.where.find("tensor '"), std::string::npos);
    EXPECT_NE(warning.message.find("scales along axis 3, but only 1 axes"), std::string::npos)
        << warning.message;
    EXPECT_EQ(warning.hint, "set quantized_dimension to 0");
  }
}

}  // namespace
}  // namespace tilewright
