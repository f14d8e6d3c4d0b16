// Real networks that need no file beside the clone: those that this project trained, with images they were
// not trained on, their quantised forms, a network of signs, and files as other exporters would write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

// Those of models/NAME-fashion.
inline constexpr const char* kTrainedNetworks[] = {"lenet", "residual", "depthwise"};
// And the one with products of activations and functions that are no clip, which plain VTA arithmetic, wide
// fixed point and TFLite's table of operators here do not cover.
inline constexpr const char* kGatedNetworks[] = {"gated"};
std::filesystem::path fashion_file(const std::string& network);
// After the graph passes; f32 [1,1,28,28] in 0..1 to ten scores.
Graph trained_network(const std::string& network);
inline std::filesystem::path lenet_file() { return fashion_file("lenet"); }
inline Graph trained_lenet() { return trained_network("lenet"); }

struct FashionImages {
  Tensor images;  // f32 [count,1,28,28] in 0..1
  std::vector<int64_t> labels;
};
// The first `count` test images. Errors (invalid input): the package dataset-fashion-mnist is not installed.
FashionImages fashion_test_images(int64_t count);
// Image `index`, f32 [1,1,28,28].
Tensor image_of(const FashionImages& set, int64_t index);

// In QDQ form, calibrated on the first training images.
Graph quantized_network(const std::string& network, const QuantizeOptions& options = {}, int64_t images = 64);
inline Graph quantized_lenet(const QuantizeOptions& options = {}) {
  return quantized_network("lenet", options);
}

// A QONNX file with the structure that Brevitas exports for its TFC networks: four dense layers of 1-bit
// weights between 1-bit activations and batch normalisations, 784 pixels to ten scores. Weights are drawn.
std::vector<std::byte> signs_network_file(uint64_t seed);

// The TFLite file of a network in QDQ form (i8, channels first, one input and output): channels last, pads as
// operators of their own, activations fused, the input and output in integers. Covers convolutions, dense
// layers, maximum pools, global averages and flattening. Errors (internal): other operators.
std::vector<std::byte> tflite_twin(const Graph& qdq);

}  // namespace tilewright
