// The networks on which quantisation is measured, with their samples: those of models/ on Fashion-MNIST; with
// TILEWRIGHT_OUTSIDE also MobileNet v2 and v1 on photos and ResNet-8 on CIFAR-10; and the modern networks of
// the zoo, whose weights and samples are drawn.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "model/quantize/model_data.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/quantize/report.h"
#include "zoo/zoo.h"

namespace quantiser_figures {

using namespace tilewright;

inline constexpr int kThreads = 2;

struct Data {
  std::vector<Tensor> calibration, images;  // one array per input
  std::vector<std::set<int64_t>> right;     // accepted classes of each image; empty: none
  std::vector<Tensor> noise;                // the ratio is measured on
};

struct Network {
  std::string name;
  std::function<Graph()> load;
  std::function<Data(const Graph&)> data;
};

// Samples first, first + step, ...
inline Tensor every(const Tensor& samples, int64_t first, int64_t step, int64_t count) {
  Shape shape = samples.shape();
  const int64_t each = shape.element_count() / shape[0];
  shape[0] = count;
  Tensor result(ElementType::kF32, shape);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(samples.data<float>().begin() + (first + i * step) * each, each,
                result.mutable_data<float>().begin() + i * each);
  }
  return result;
}

// f32 [32,3,size,size], (pixel - 128) / 128.
inline Tensor photos(int64_t size) {
  const auto bytes = read_file(outside_models() / fmt::format("data_images/images_32x{0}x{0}x3.u8", size));
  Tensor images(ElementType::kF32, {32, 3, size, size});
  const auto out = images.mutable_data<float>();
  const int64_t pixels = size * size;
  for (int64_t i = 0; i < 32 * pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c)
      out[size_t((i / pixels * 3 + c) * pixels + i % pixels)] =
          (float(uint8_t(bytes[size_t(i * 3 + c)])) - 128) / 128;
  }
  return images;
}

inline Data photo_data(int64_t size) {
  const Tensor images = photos(size);
  return {{every(images, 0, 4, 8)}, {images}, photo_classes(1), {every(images, 1, 8, 4)}};
}

inline std::vector<std::set<int64_t>> sets(const std::vector<int64_t>& labels) {
  std::vector<std::set<int64_t>> result;
  for (int64_t label : labels) result.push_back({label});
  return result;
}

inline Data fashion_data(int64_t count) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  const auto images = [&](const char* file, int64_t number) {
    return read_samples(sample_source(folder + file), number, 1 / 255.0)
        .stack(ElementType::kF32, {1, 1, 28, 28});
  };
  const Tensor test = images("t10k-images-idx3-ubyte.gz", count);
  const std::vector<int64_t> labels =
      read_samples(sample_source(folder + "t10k-labels-idx1-ubyte.gz")).labels(count, 10, true);
  return {{images("train-images-idx3-ubyte.gz", 256)}, {test}, sets(labels), {every(test, 0, 1, 500)}};
}

inline Data cifar_data() {
  const LabelledImages test = cifar10_lossless();
  return {
      {cifar10_jpeg(100, test).images}, {test.images}, sets(test.labels), {every(test.images, 0, 1, 100)}};
}

inline Data drawn_data(const Graph& graph) {
  Data data;
  for (ValueId v : graph.inputs) {
    data.calibration.push_back(uniform_samples(graph.value(v).shape, 16, -1, 1, 100 + uint64_t(v)));
    data.noise.push_back(uniform_samples(graph.value(v).shape, 8, -1, 1, 200 + uint64_t(v)));
  }
  return data;
}

inline std::vector<Network> networks(int64_t fashion_images) {
  std::vector<Network> result;
  const std::filesystem::path source = TILEWRIGHT_SOURCE_DIR;
  for (const std::string name : {"lenet", "residual", "depthwise", "gated"}) {
    const auto file = source / "models" / (name + "-fashion") / (name + "_fashion.onnx");
    result.push_back({name + "_fashion", [file] { return load_model(file); },
                      [=](const Graph&) { return fashion_data(fashion_images); }});
  }
  if (std::filesystem::exists(outside_models())) {
    const auto file = [](const char* name) {
      return [name] { return load_model(outside_models() / "onnx_from_tflite" / name); };
    };
    result.push_back({"mobilenet_v2", file("mobilenet_v2_1.0_224_fp32.onnx"),
                      [](const Graph&) { return photo_data(224); }});
    result.push_back({"mobilenet_v1_0.25", file("mobilenet_v1_0.25_128_fp32.onnx"),
                      [](const Graph&) { return photo_data(128); }});
    result.push_back({"resnet8", file("ic_resnet8_fp32.onnx"), [](const Graph&) { return cifar_data(); }});
  }
  for (const zoo::Network& network : zoo::modern_networks()) {
    result.push_back({network.name, [&network] { return network.build(network.small); }, drawn_data});
  }
  return result;
}

inline double points(const Graph& graph, const Data& data) {
  if (data.right.empty()) return 0;
  const std::vector<int64_t> classes = classify(graph, data.images, kThreads);
  int64_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) right += int64_t(data.right[i].count(classes[i]));
  return 100 * double(right) / double(classes.size());
}

}  // namespace quantiser_figures
