// The ten convolution shapes C2 to C11 of ResNet-18, as integer operators with random data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct ResnetLayer {
  const char* name;
  int64_t size, inputs, outputs, kernel, stride;
  int repeats;  // in the network
};

inline constexpr ResnetLayer kResnet18Layers[] = {
    {"C2", 56, 64, 64, 3, 1, 4},   {"C3", 56, 64, 128, 3, 2, 1},  {"C4", 56, 64, 128, 1, 2, 1},
    {"C5", 28, 128, 128, 3, 1, 3}, {"C6", 28, 128, 256, 3, 2, 1}, {"C7", 28, 128, 256, 1, 2, 1},
    {"C8", 14, 256, 256, 3, 1, 3}, {"C9", 14, 256, 512, 3, 2, 1}, {"C10", 14, 256, 512, 1, 2, 1},
    {"C11", 7, 512, 512, 3, 1, 3}};

inline Tensor random_tensor(Random& random, ElementType type, Shape shape, int64_t low, int64_t high) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

// One QConv node (number 0) with bias, a power-of-two scale and ReLU; input and output are the graph's.
inline Graph resnet18_graph(const ResnetLayer& layer, Random& random, int64_t batch = 1) {
  Graph graph;
  const ValueId x =
      graph.add_input("x", ElementType::kI8, Shape{batch, layer.inputs, layer.size, layer.size});
  const Shape kernel{layer.outputs, layer.inputs, layer.kernel, layer.kernel};
  const ValueId w = graph.add_constant("w", random_tensor(random, ElementType::kI8, kernel, -127, 127));
  const ValueId b =
      graph.add_constant("b", random_tensor(random, ElementType::kI32, Shape{layer.outputs}, -30000, 30000));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>(Shape{1}, {10}));
  const int64_t pad = layer.kernel / 2, out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{batch, layer.outputs, out, out});
  Node& node = graph.add_node(layer.name, "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{layer.stride, layer.stride};
  node.attributes["pads"] = std::vector<int64_t>(4, pad);
  node.attributes["clip_low"] = int64_t{0};
  graph.outputs = {y};
  return graph;
}

inline Tensor resnet18_input(const ResnetLayer& layer, Random& random, int64_t batch = 1) {
  return random_tensor(random, ElementType::kI8, Shape{batch, layer.inputs, layer.size, layer.size}, -128,
                       127);
}

// The same with operands of `bits` bits; 1-bit ones are signs. Node 0 narrows the input on the host,
// node 1 is the layer.
inline Graph narrow_resnet18_graph(const ResnetLayer& layer, int bits, Random& random, int64_t batch = 1) {
  Graph graph = resnet18_graph(layer, random, batch);
  Node conv = graph.nodes[0];
  graph.nodes.clear();
  const bool signs = bits == 1;
  const int64_t low = signs ? 0 : -(int64_t{1} << (bits - 1)),
                high = signs ? 1 : (int64_t{1} << (bits - 1)) - 1;
  const auto clip_to = [&](Node& node) {
    node.attributes["clip_low"] = low;
    node.attributes["clip_high"] = high;
    if (signs) node.attributes["bipolar"] = int64_t{1};
  };
  const Shape shape = graph.value(conv.inputs[0]).shape;
  const ValueId narrow = graph.add_value("narrow", ElementType::kI8, shape);
  Node& host = graph.add_node("narrow", "QRequantize", {conv.inputs[0]}, {narrow}, kTilewrightDomain);
  host.attributes["multiplier"] = int64_t{1};
  host.attributes["shift"] = int64_t{8 - bits};
  clip_to(host);
  Tensor& weights = *graph.value(conv.inputs[1]).constant;
  for (int64_t i = 0; i < weights.size(); ++i) {
    weights.set_integer(i,
                        signs ? (weights.integer_at(i) > 0 ? 1 : -1) : weights.integer_at(i) >> (8 - bits));
  }
  Tensor& bias = *graph.value(conv.inputs[2]).constant;
  for (int64_t i = 0; i < bias.size(); ++i) bias.set_integer(i, bias.integer_at(i) >> (2 * (8 - bits)));
  graph.value(conv.inputs[4]).constant->set_integer(0, signs ? 0 : bits + 2);
  conv.inputs[0] = narrow;
  clip_to(conv);
  conv.attributes["pad_value"] = int64_t{signs ? -1 : 0};
  graph.nodes.push_back(std::move(conv));
  return graph;
}

}  // namespace tilewright
