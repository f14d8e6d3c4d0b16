// DORY's Frontnet, whose golden files hold the integer outputs of every layer. Each layer is recomputed from
// the golden output of the layer before it, by a reference kernel that gives the accumulators (a byte of them
// at a time) and by the integer formula of its requantisation, and compared with its own golden output.
#include <gtest/gtest.h>

#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {
namespace {

// The numbers of a golden file in HWC order, as an unsigned tensor 1 x C x H x W.
Tensor golden(const std::filesystem::path& path, const Shape& shape) {
  std::istringstream lines(read_text_file(path));
  Tensor tensor(ElementType::kU8, shape);
  const int64_t channels = shape[1], pixels = shape[2] * shape[3];
  int64_t index = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (index < tensor.size())
      tensor.set_number(index % channels * pixels + index / channels, std::stod(line));
    ++index;
  }
  EXPECT_EQ(index, tensor.size()) << path;
  return tensor;
}

// u8 as i8 shifted by 128, which the bias takes back.
Tensor shifted(const Tensor& x) {
  Tensor result(ElementType::kI8, x.shape());
  for (int64_t i = 0; i < x.size(); ++i) result.set_integer(i, x.integer_at(i) - 128);
  return result;
}

struct Layer {
  const Node* conv = nullptr;
  const Tensor* weights = nullptr;
  Tensor weights_i8, bias;  // the bias takes the shift of the input back
  ConvParameters parameters;
};

Layer layer_of(const Graph& graph, const Node& conv) {
  Layer layer;
  layer.conv = &conv;
  layer.weights = graph.constant_input(conv, 1);
  layer.weights_i8 = layer.weights->cast(ElementType::kI8);
  const int64_t channels = layer.weights->shape()[0], per_channel = layer.weights->size() / channels;
  layer.bias = Tensor(ElementType::kI32, {channels});
  for (int64_t o = 0; o < channels; ++o) {
    int64_t sum = 0;
    for (int64_t k = 0; k < per_channel; ++k) sum += layer.weights_i8.integer_at(o * per_channel + k);
    layer.bias.set_integer(o, 128 * sum);
  }
  const std::vector<int64_t> strides = conv.ints_or("strides", {1, 1}),
                             pads = conv.ints_or("pads", {0, 0, 0, 0});
  layer.parameters.window.strides = {strides[0], strides[1]};
  layer.parameters.window.pads = {pads[0], pads[1], pads[2], pads[3]};
  layer.parameters.pad_value = -128;
  return layer;
}

// What the layer's NEMO nodes make of an accumulator: Mul k, Add l (per channel), Mul m, Div d, Clip to a
// byte.
struct Requantize {
  const Tensor *factor = nullptr, *offset = nullptr, *multiplier = nullptr, *divisor = nullptr;
  int64_t operator()(int64_t acc, int64_t channel) const {
    const int64_t value = (acc * int64_t(factor->number_at(channel)) + int64_t(offset->number_at(channel))) *
                          multiplier->integer_at(0) / divisor->integer_at(0);
    return clip(value, 0, 255);
  }
};

TEST(ReferenceFrontnet, EveryConvolutionGivesItsGoldenLayer) {
  const auto folder = outside_models() / "dory_frontnet";
  const Graph graph = read_onnx(folder / "Frontnet.onnx");
  Tensor x = golden(folder / "input.txt", {1, 1, 96, 160});
  int golden_layers = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.is("MaxPool")) {
      const auto strides = node.ints_or("strides", {1, 1}), kernel = node.ints_or("kernel_shape", {1, 1});
      MaxPoolParameters p;
      p.window.strides = {strides[0], strides[1]};
      p.kernel = {kernel[0], kernel[1]};
      const Tensor y = reference_max_pool(shifted(x), p);
      x = golden(folder / ("out_layer" + std::to_string(golden_layers++) + ".txt"),
                 graph.value(node.outputs[0]).shape);
      ASSERT_TRUE(shifted(x).identical(y));
    }
    if (!node.is("Conv")) continue;
    const Layer layer = layer_of(graph, node);
    ASSERT_TRUE(layer.weights_i8.cast(ElementType::kF32).identical(*layer.weights))
        << "weights are not bytes";
    Requantize requantize;
    std::vector<const Tensor**> wanted{&requantize.factor, &requantize.offset, &requantize.multiplier,
                                       &requantize.divisor};
    for (size_t k = n + 1, next = 0; next < wanted.size(); ++k) {
      if (graph.nodes[k].is("Cast")) continue;
      const Tensor* first = graph.constant_input(graph.nodes[k], 0);
      const Tensor* constant = first != nullptr ? first : graph.constant_input(graph.nodes[k], 1);
      if (constant != nullptr) *wanted[next++] = constant;
    }
    const Shape& shape = graph.value(node.outputs[0]).shape;
    const Tensor expected = golden(folder / ("out_layer" + std::to_string(golden_layers++) + ".txt"), shape);
    const Tensor x_in_float = x.cast(ElementType::kF32);
    const Tensor* inputs[] = {&x_in_float, layer.weights};
    const Tensor acc = evaluate(graph, node, inputs)[0];
    const int64_t pixels = shape[2] * shape[3];
    // The golden layer fixes the accumulators ...
    for (int64_t i = 0; i < acc.size(); ++i) {
      ASSERT_EQ(requantize(int64_t(acc.number_at(i)), i / pixels), expected.integer_at(i)) << node.name;
    }
    // ... and the reference kernel has the same ones, seen through windows of 8 bits at several scales.
    for (const int32_t shift : {0, 3, 6, 9, 12}) {
      const Tensor y = reference_conv(shifted(x), layer.weights_i8, layer.bias, Tensor::of<int32_t>({1}, {1}),
                                      Tensor::of<int32_t>({1}, {shift}), layer.parameters);
      for (int64_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(y.integer_at(i), clip(round_shift(int64_t(acc.number_at(i)), shift), -128, 127))
            << node.name;
      }
    }
    x = expected;
  }
  EXPECT_EQ(golden_layers, 8);
}

}  // namespace
}  // namespace tilewright
