// Our own int8 of float ImageNet and MNIST networks on real images. Calibration sees every fourth photo (of
// the shared 32), or other digits than are counted.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "model_data.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

constexpr int64_t kPhotos = 32;

struct Preprocessing {
  int64_t size = 224;
  bool reverse_channels = false;  // BGR
  float mean[3] = {0, 0, 0};      // per channel of the network
  float scale = 1;
  int64_t first_class = 0;  // 1 where class 0 is the background
};

// [32, 3, size, size].
Tensor photos(const Preprocessing& p) {
  const std::string size = std::to_string(p.size);
  const auto bytes =
      read_file(shared_models() / "data_images" / ("images_32x" + size + "x" + size + "x3.u8"));
  Tensor images(ElementType::kF32, Shape{kPhotos, 3, p.size, p.size});
  const auto out = images.mutable_data<float>();
  const int64_t pixels = p.size * p.size;
  for (int64_t i = 0; i < kPhotos * pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t from = p.reverse_channels ? 2 - c : c;
      const float value = float(bytes[size_t(i * 3 + from)]);
      out[size_t((i / pixels * 3 + c) * pixels + i % pixels)] = (value - p.mean[c]) * p.scale;
    }
  }
  return images;
}

int right_answers(const Graph& graph, const Tensor& images, int64_t first_class) {
  const std::vector<std::set<int64_t>> labels = photo_classes(first_class);
  const std::vector<int64_t> classes = classify(graph, {images}, 2);
  int right = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    right += int(labels[i].count(classes[i]));
  }
  return right;
}

Tensor every_fourth(const Tensor& images) {
  const int64_t each = images.shape().count(1, 4);
  Shape shape = images.shape();
  shape[0] /= 4;
  Tensor part(ElementType::kF32, shape);
  for (int64_t i = 0; i < shape[0]; ++i) {
    std::copy_n(images.data<float>().begin() + i * 4 * each, each,
                part.mutable_data<float>().begin() + i * each);
  }
  return part;
}

// Right answers of 32 in float, with real scales and with powers of two.
void check_photos(const char* model, const Preprocessing& preprocessing, int float_right, int allowed_loss,
                  int allowed_loss_of_shifts) {
  const Graph graph = optimize(read_onnx(shared_models() / model));
  const Tensor images = photos(preprocessing);
  const int in_float = right_answers(graph, images, preprocessing.first_class);
  int right[2] = {};
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    options.threads = 2;
    const Graph integer = integerize(quantize(graph, {every_fourth(images)}, options));
    right[scales == ScaleKind::kPowerOfTwo] = right_answers(integer, images, preprocessing.first_class);
  }
  std::cout << model << ": " << in_float << " of 32 photos in float, " << right[0] << " with real scales, "
            << right[1] << " with powers of two\n";
  EXPECT_EQ(in_float, float_right);
  EXPECT_GE(right[0], in_float - allowed_loss);
  EXPECT_GE(right[1], in_float - allowed_loss_of_shifts);
}

TEST(Photos, MobileNetV2) {
  check_photos("onnx_from_tflite/mobilenet_v2_1.0_224_fp32.onnx",
               {224, false, {128, 128, 128}, 1 / 128.0f, 1}, 32, 1, 2);
}

TEST(Photos, MobileNetV1Quarter) {
  check_photos("onnx_from_tflite/mobilenet_v1_0.25_128_fp32.onnx",
               {128, false, {128, 128, 128}, 1 / 128.0f, 1}, 20, 2, 4);
}

TEST(Photos, SqueezeNet) {
  check_photos("onnx_squeezenet10/squeezenet1.0_fp32.onnx", {224, true, {104, 117, 123}, 1, 0}, 30, 1, 1);
}

TEST(Photos, SqueezeNetInHalfPrecision) {
  check_photos("onnx_squeezenet10/squeezenet1.0_fp16.onnx", {224, true, {104, 117, 123}, 1, 0}, 30, 1, 1);
}

TEST(Digits, Mnist8) {
  std::istringstream lines(read_text_file(shared_models() / "data_mnist" / "mnist_test_first100.csv"));
  std::vector<float> seen, counted;
  std::vector<int64_t> labels;
  int64_t line_number = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++line_number) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    const bool calibrates = line_number % 5 == 0;
    if (!calibrates) labels.push_back(std::stoi(field));
    while (std::getline(fields, field, ',')) (calibrates ? seen : counted).push_back(std::stof(field));
  }
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_mnist8" / "model.onnx"));
  const auto images = [](const std::vector<float>& pixels) {
    return Tensor(Shape{int64_t(pixels.size()) / 784, 1, 28, 28}, std::span<const float>(pixels));
  };
  ASSERT_EQ(labels.size(), 80u);
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    const Graph integer = integerize(quantize(graph, {images(seen)}, options));
    const AccuracyReport report = compare_accuracy(graph, integer, {images(counted)}, labels, 2);
    std::cout << to_string(report);
    EXPECT_GE(report.float_correct, 79);
    EXPECT_GE(report.quantized_correct, report.float_correct - 1);
  }
}

}  // namespace
}  // namespace tilewright
