// host_integer_speed: multiply-accumulates per second of the host engine's integer operators on one thread,
// requantisation included. Layers of ResNet-18, MobileNetV1 and VGG-16 at batch 1. Every output is compared
// with the reference kernels on a sample of channels (all of them for the small layers). Times are process
// CPU time, the best of several runs. Also the border operators, in elements per second.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/host/integer/integer_matrix.h"
#include "tilewright/tensor/reference_kernels.h"

namespace {

using namespace tilewright;

struct Layer {
  const char* name;
  int64_t size, in, out, kernel, stride, group;
};

constexpr Layer kLayers[] = {
    {"resnet18_conv1_7x7s2", 224, 3, 64, 7, 2, 1},      {"resnet18_3x3_56", 56, 64, 64, 3, 1, 1},
    {"resnet18_3x3_28", 28, 128, 128, 3, 1, 1},         {"resnet18_3x3s2_28", 28, 128, 256, 3, 2, 1},
    {"resnet18_3x3_14", 14, 256, 256, 3, 1, 1},         {"resnet18_3x3_7", 7, 512, 512, 3, 1, 1},
    {"mobilenet_1x1_56", 56, 128, 128, 1, 1, 1},        {"mobilenet_1x1_7", 7, 1024, 1024, 1, 1, 1},
    {"mobilenet_depthwise_112", 112, 64, 64, 3, 1, 64}, {"mobilenet_depthwise_14", 14, 512, 512, 3, 1, 512},
    {"vgg16_3x3_112", 112, 128, 128, 3, 1, 1}};

Tensor random_tensor(ElementType type, const Shape& shape, int64_t low, int64_t high, Random& random) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

struct Convolution {
  Graph graph;
  Tensor x, weights, bias, multiplier, shift;
  ConvParameters parameters;
  int64_t macs = 0;
};

Convolution make(const Layer& layer) {
  Random random(17);
  Convolution c;
  const int64_t pad = layer.kernel / 2, depth = layer.in / layer.group;
  c.x = random_tensor(ElementType::kI8, {1, layer.in, layer.size, layer.size}, -128, 127, random);
  c.weights =
      random_tensor(ElementType::kI8, {layer.out, depth, layer.kernel, layer.kernel}, -128, 127, random);
  c.bias = random_tensor(ElementType::kI32, {layer.out}, -1000, 1000, random);
  c.multiplier = random_tensor(ElementType::kI32, {layer.out}, 1 << 30, INT32_MAX, random);
  c.shift = random_tensor(ElementType::kI32, {layer.out}, 40, 42, random);
  c.parameters.window.strides = {layer.stride, layer.stride};
  c.parameters.window.pads = {pad, pad, pad, pad};
  c.parameters.group = layer.group;
  c.parameters.pad_value = 5;
  const int64_t out = window_output_size(c.parameters.window, 0, layer.size, layer.kernel);
  c.macs = out * out * layer.out * depth * layer.kernel * layer.kernel;
  const ValueId x = c.graph.add_input("x", ElementType::kI8, c.x.shape());
  const ValueId y = c.graph.add_value("y", ElementType::kI8, {1, layer.out, out, out});
  std::vector<ValueId> inputs{x};
  for (const Tensor* t : {&c.weights, &c.bias, &c.multiplier, &c.shift})
    inputs.push_back(c.graph.add_constant("c", *t));
  Node& node = c.graph.add_node("conv", "QConv", inputs, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{layer.stride, layer.stride};
  node.attributes["pads"] = std::vector<int64_t>{pad, pad, pad, pad};
  node.attributes["group"] = layer.group;
  node.attributes["pad_value"] = int64_t{5};
  c.graph.outputs = {y};
  return c;
}

// A few output channels from the reference kernel; whole groups when there are any.
bool sample_agrees(const Convolution& c, const Tensor& y) {
  const int64_t channels = c.weights.shape()[0], out_plane = y.size() / channels;
  const bool depthwise = c.parameters.group > 1;
  for (const int64_t o : {int64_t{0}, channels / 2 + 1, channels - 1}) {
    const auto part = [&](const Tensor& t, int64_t count) {
      Tensor result(t.type(), {count});
      for (int64_t i = 0; i < count; ++i) result.set_integer(i, t.integer_at(o * count + i));
      return result;
    };
    const Shape w{1, c.weights.shape()[1], c.weights.shape()[2], c.weights.shape()[3]};
    ConvParameters p = c.parameters;
    p.group = 1;
    const Shape xs = c.x.shape();
    const Tensor x = depthwise ? part(c.x, xs[2] * xs[3]).reshaped({1, 1, xs[2], xs[3]}) : c.x;
    const Tensor expected = reference_conv(x, part(c.weights, w.element_count()).reshaped(w), part(c.bias, 1),
                                           part(c.multiplier, 1), part(c.shift, 1), p);
    for (int64_t i = 0; i < out_plane; ++i) {
      if (expected.integer_at(i) != y.integer_at(o * out_plane + i)) return false;
    }
  }
  return true;
}

double border_rate(const char* op, ElementType from, ElementType to) {
  const Shape shape{1, 64, 128, 128};
  Random random(3);
  Graph graph;
  const ValueId x = graph.add_input("x", from, shape), y = graph.add_value("y", to, shape);
  const ValueId scale = graph.add_constant("s", Tensor::scalar(0.37f));
  const ValueId zero = graph.add_constant("z", Tensor::scalar(int8_t{3}));
  graph.add_node("n", op, {x, scale, zero}, {y});
  graph.outputs = {y};
  const Executor executor(graph);
  const Tensor input = random_tensor(from, shape, -100, 100, random);
  const double seconds = best_of(7, [&] { executor.run({input}); });
  return double(shape.element_count()) / seconds * 1e-9;
}

}  // namespace

int main() {
  std::printf("integer operators of the host engine, one thread, batch 1\n");
  std::string fields;
  double worst = 1e30;
  bool agree = true;
  for (const Layer& layer : kLayers) {
    const Convolution c = make(layer);
    const Executor executor(c.graph);
    const Tensor y = executor.run({c.x})[0];
    const bool same = sample_agrees(c, y);
    agree = agree && same;
    const double seconds = best_of(9, [&] { executor.run({c.x}); });
    const double rate = double(c.macs) / seconds * 1e-9;
    worst = layer.group == 1 ? std::min(worst, rate) : worst;
    std::printf("%-26s %8.1f MMAC %9.3f ms %8.1f GMAC/s  %s\n", layer.name, double(c.macs) * 1e-6,
                seconds * 1e3, rate, same ? "exact" : "WRONG");
    char text[96];
    std::snprintf(text, sizeof text, ", \"%s_gmacs_per_s\": %.1f", layer.name, rate);
    fields += text;
  }
  const double quantize = border_rate("QuantizeLinear", ElementType::kF32, ElementType::kI8);
  const double dequantize = border_rate("DequantizeLinear", ElementType::kI8, ElementType::kF32);
  std::printf("QuantizeLinear %.2f, DequantizeLinear %.2f G elements/s\n", quantize, dequantize);
  std::printf(
      "{\"figure\": \"host_integer_speed\", \"isa\": %d, \"slowest_dense_gmacs_per_s\": %.1f, "
      "\"quantize_gelements_per_s\": %.2f, \"dequantize_gelements_per_s\": %.2f%s}\n",
      int(best_integer_isa()), worst, quantize, dequantize, fields.c_str());
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}
