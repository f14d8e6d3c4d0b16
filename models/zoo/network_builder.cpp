// Constants are made as zeros and drawn at the end, in one pass over the whole graph: their role (weight,
// bias, normalisation) follows from the node that reads them.
#include "zoo/network_builder.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/lcg_weights.h"

namespace tilewright::zoo {
NetworkBuilder::NetworkBuilder(const std::string& network_name) { graph_.name = network_name; }

ValueId NetworkBuilder::input(const std::string& name, const Shape& shape) {
  return graph_.add_input(name, ElementType::kF32, shape);
}

ValueId NetworkBuilder::node(const std::string& op, std::vector<ValueId> inputs,
                             std::map<std::string, Attribute> attributes) {
  const std::string name = fmt::format("{}_{}", op, ++layers_);
  const ValueId result = graph_.add_value(name + "_out", ElementType::kF32, {});
  Node& added = graph_.add_node(name, op, std::move(inputs), {result});
  added.attributes = std::move(attributes);
  graph_.value(result).shape = infer_node(graph_, added).at(0).shape;
  if (graph_.value(result).shape.element_count() <= 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the image is too small for {}", where(added)));
  }
  return result;
}

ValueId NetworkBuilder::weights(const std::string& what, const Shape& shape) {
  return graph_.add_constant(fmt::format("{}_{}", what, layers_ + 1), Tensor(ElementType::kF32, shape));
}

ValueId NetworkBuilder::integers(const std::string& what, std::vector<int64_t> values) {
  const Shape shape{int64_t(values.size())};
  return graph_.add_constant(fmt::format("{}_{}", what, layers_ + 1),
                             Tensor(shape, std::span<const int64_t>(values)));
}

ValueId NetworkBuilder::number(double value) {
  const ValueId id = graph_.add_constant(fmt::format("number_{}", layers_ + 1), Tensor::scalar(float(value)));
  numbers_[id] = float(value);
  return id;
}

std::vector<int64_t> NetworkBuilder::axes(ValueId x, int64_t value) const {
  return std::vector<int64_t>(size_t(shape(x).rank() - 2), value);
}

std::map<std::string, Attribute> NetworkBuilder::window_attributes(ValueId x, const Window& window) const {
  std::map<std::string, Attribute> attributes{
      {"kernel_shape", axes(x, window.kernel)},
      {"strides", axes(x, window.stride)},
      {"pads", std::vector<int64_t>(2 * size_t(shape(x).rank() - 2), window.pad)}};
  if (window.dilation != 1) attributes["dilations"] = axes(x, window.dilation);
  return attributes;
}

ValueId NetworkBuilder::convolution(ValueId x, int64_t outputs, const Window& window, bool bias) {
  std::vector<int64_t> kernel{outputs, channels(x) / window.groups};
  for (const int64_t size : axes(x, window.kernel)) kernel.push_back(size);
  std::vector<ValueId> inputs{x, weights("weight", Shape(kernel))};
  if (bias) inputs.push_back(weights("bias", {outputs}));
  auto attributes = window_attributes(x, window);
  attributes["group"] = window.groups;
  return node("Conv", std::move(inputs), std::move(attributes));
}

ValueId NetworkBuilder::conv(ValueId x, int64_t outputs, const Window& window) {
  return convolution(x, outputs, window, true);
}

ValueId NetworkBuilder::conv_bn(ValueId x, int64_t outputs, const Window& window) {
  return batch_norm(convolution(x, outputs, window, false));
}

ValueId NetworkBuilder::conv_bn_relu(ValueId x, int64_t outputs, const Window& window) {
  return relu(conv_bn(x, outputs, window));
}

ValueId NetworkBuilder::conv_relu(ValueId x, int64_t outputs, const Window& window) {
  return relu(conv(x, outputs, window));
}

ValueId NetworkBuilder::transposed(ValueId x, int64_t outputs, const Window& window) {
  std::vector<int64_t> kernel{channels(x), outputs / window.groups};
  for (const int64_t size : axes(x, window.kernel)) kernel.push_back(size);
  auto attributes = window_attributes(x, window);
  if (window.groups != 1) attributes["group"] = window.groups;
  if (window.output_pad != 0) attributes["output_padding"] = axes(x, window.output_pad);
  return node("ConvTranspose", {x, weights("weight", Shape(kernel))}, std::move(attributes));
}

ValueId NetworkBuilder::batch_norm(ValueId x) {
  const Shape shape{channels(x)};
  const ValueId scale = weights("scale", shape), shift = weights("shift", shape);
  const ValueId mean = weights("mean", shape), variance = weights("variance", shape);
  return node("BatchNormalization", {x, scale, shift, mean, variance});
}

ValueId NetworkBuilder::relu(ValueId x) { return node("Relu", {x}); }
ValueId NetworkBuilder::tanh(ValueId x) { return node("Tanh", {x}); }
ValueId NetworkBuilder::sigmoid(ValueId x) { return node("Sigmoid", {x}); }
ValueId NetworkBuilder::add(ValueId a, ValueId b) { return node("Add", {a, b}); }
ValueId NetworkBuilder::global_average(ValueId x) { return node("GlobalAveragePool", {x}); }
ValueId NetworkBuilder::flatten(ValueId x) { return node("Flatten", {x}, {{"axis", int64_t{1}}}); }

ValueId NetworkBuilder::max_pool(ValueId x, const Window& window) {
  return node("MaxPool", {x}, window_attributes(x, window));
}

ValueId NetworkBuilder::average_pool(ValueId x, const Window& window) {
  auto attributes = window_attributes(x, window);
  attributes["count_include_pad"] = int64_t{1};
  return node("AveragePool", {x}, std::move(attributes));
}

ValueId NetworkBuilder::max_pool_same(ValueId x, int64_t kernel, int64_t stride) {
  return node("MaxPool", {x},
              {{"kernel_shape", std::vector<int64_t>(2, kernel)},
               {"strides", std::vector<int64_t>(2, stride)},
               {"auto_pad", std::string("SAME_UPPER")}});
}

ValueId NetworkBuilder::response_norm(ValueId x) {
  return node("LRN", {x}, {{"size", int64_t{5}}, {"alpha", 1e-4f}, {"beta", 0.75f}, {"bias", 2.0f}});
}

ValueId NetworkBuilder::reflect_pad(ValueId x, int64_t pad) {
  return node("Pad", {x, integers("pads", {0, 0, pad, pad, 0, 0, pad, pad})},
              {{"mode", std::string("reflect")}});
}

ValueId NetworkBuilder::crop(ValueId x, int64_t border) {
  const Shape& shape = graph_.value(x).shape;
  const std::vector<int64_t> ends{shape[2] - border, shape[3] - border};
  const ValueId starts = integers("starts", {border, border});
  const ValueId stops = integers("ends", ends);
  return node("Slice", {x, starts, stops, integers("axes", {2, 3})});
}

ValueId NetworkBuilder::dense(ValueId x, int64_t outputs) {
  const ValueId w = weights("weight", {outputs, graph_.value(x).shape[1]});
  return node("Gemm", {x, w, weights("bias", {outputs})}, {{"transB", int64_t{1}}});
}

ValueId NetworkBuilder::lstm(ValueId x, int64_t units) {
  const int64_t length = shape(x)[2];
  const ValueId inputs = conv(x, 4 * units, {.kernel = 1});
  const ValueId recurrent = weights("recurrent", {4 * units, units});
  ValueId output = kNoValue, cell = kNoValue;
  for (int64_t step = 0; step < length; ++step) {
    ValueId gates = reshape(slice(inputs, 2, step, step + 1), {1, 4 * units});
    if (step > 0) gates = add(gates, node("Gemm", {output, recurrent}, {{"transB", int64_t{1}}}));
    const auto gate = [&](int64_t g) { return slice(gates, 1, g * units, (g + 1) * units); };
    const ValueId fresh = multiply(sigmoid(gate(0)), tanh(gate(3)));
    cell = step > 0 ? add(multiply(sigmoid(gate(2)), cell), fresh) : fresh;
    output = multiply(sigmoid(gate(1)), tanh(cell));
  }
  return output;
}

ValueId NetworkBuilder::multiply(ValueId a, ValueId b) { return node("Mul", {a, b}); }
ValueId NetworkBuilder::silu(ValueId x) { return multiply(x, sigmoid(x)); }

ValueId NetworkBuilder::hard_sigmoid(ValueId x) {
  const ValueId raised = node("Add", {x, number(3)});
  const ValueId low = number(0), high = number(6);
  return node("Div", {node("Clip", {raised, low, high}), number(6)});
}

ValueId NetworkBuilder::hard_swish(ValueId x) { return multiply(x, hard_sigmoid(x)); }
ValueId NetworkBuilder::mish(ValueId x) { return multiply(x, tanh(node("Softplus", {x}))); }

ValueId NetworkBuilder::gelu(ValueId x) {
  const ValueId erf = node("Erf", {node("Div", {x, number(std::sqrt(2.0))})});
  return node("Mul", {multiply(x, node("Add", {erf, number(1)})), number(0.5)});
}

ValueId NetworkBuilder::leaky_relu(ValueId x, float alpha) {
  return node("LeakyRelu", {x}, {{"alpha", alpha}});
}

ValueId NetworkBuilder::channel_prelu(ValueId x) {
  std::vector<int64_t> slopes{channels(x)};
  for (const int64_t one : axes(x, 1)) slopes.push_back(one);
  return node("PRelu", {x, weights("slope", Shape(slopes))});
}

ValueId NetworkBuilder::concat(std::vector<ValueId> parts, int64_t axis) {
  return node("Concat", std::move(parts), {{"axis", axis}});
}

std::vector<ValueId> NetworkBuilder::split(ValueId x, int parts) {
  const int64_t size = channels(x) / parts;
  std::vector<ValueId> results;
  for (int64_t part = 0; part < parts; ++part) {
    results.push_back(slice(x, 1, part * size, (part + 1) * size));
  }
  return results;
}

ValueId NetworkBuilder::slice(ValueId x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return node("Slice", {x, integers("starts", {begin}), integers("ends", {end}), integers("axes", {axis}),
                        integers("steps", {step})});
}

ValueId NetworkBuilder::upsample(ValueId x, int64_t factor, bool linear) {
  Tensor scales(ElementType::kF32, Shape{shape(x).rank()});
  for (int64_t axis = 0; axis < scales.size(); ++axis) scales.set_number(axis, axis < 2 ? 1 : double(factor));
  const ValueId factors = graph_.add_constant(fmt::format("scales_{}", layers_ + 1), std::move(scales));
  if (linear) return node("Resize", {x, kNoValue, factors}, {{"mode", std::string("linear")}});
  return node("Resize", {x, kNoValue, factors},
              {{"mode", std::string("nearest")},
               {"coordinate_transformation_mode", std::string("asymmetric")},
               {"nearest_mode", std::string("floor")}});
}

ValueId NetworkBuilder::depth_to_space(ValueId x, int64_t block) {
  return node("DepthToSpace", {x}, {{"blocksize", block}, {"mode", std::string("CRD")}});
}

ValueId NetworkBuilder::shuffle_channels(ValueId x, int64_t groups) {
  const Shape from = shape(x);
  const ValueId grouped = reshape(x, {from[0], groups, from[1] / groups, from[2], from[3]});
  return reshape(transpose(grouped, {0, 2, 1, 3, 4}), {from[0], from[1], from[2], from[3]});
}

ValueId NetworkBuilder::reshape(ValueId x, std::vector<int64_t> shape) {
  return node("Reshape", {x, integers("shape", std::move(shape))});
}

ValueId NetworkBuilder::transpose(ValueId x, std::vector<int64_t> order) {
  return node("Transpose", {x}, {{"perm", std::move(order)}});
}

ValueId NetworkBuilder::zero_pad(ValueId x, int64_t pad) {
  std::vector<int64_t> begin{0, 0};
  for (const int64_t p : axes(x, pad)) begin.push_back(p);
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), begin.begin(), begin.end());
  return node("Pad", {x, integers("pads", pads)});
}

ValueId NetworkBuilder::linear(ValueId x, int64_t outputs) {
  const int64_t inputs = shape(x)[shape(x).rank() - 1];
  const ValueId product = node("MatMul", {x, weights("weight", {inputs, outputs})});
  return add(product, weights("bias", {outputs}));
}

ValueId NetworkBuilder::layer_norm(ValueId x) {
  const ValueId scale = weights("scale", {shape(x)[shape(x).rank() - 1]});
  numbers_[scale] = 1;
  return node("LayerNormalization", {x, scale}, {{"axis", int64_t{-1}}});
}

ValueId NetworkBuilder::self_attention(ValueId x, int64_t heads) {
  const int64_t images = shape(x)[0], tokens = shape(x)[1], width = shape(x)[2], depth = width / heads;
  const auto by_heads = [&](std::vector<int64_t> order) {
    return transpose(reshape(linear(x, width), {images, tokens, heads, depth}), std::move(order));
  };
  const ValueId queries = by_heads({0, 2, 1, 3}), keys = by_heads({0, 2, 3, 1});
  const ValueId scores = node("Div", {node("MatMul", {queries, keys}), number(std::sqrt(double(depth)))});
  const ValueId shares = node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId mixed = transpose(node("MatMul", {shares, by_heads({0, 2, 1, 3})}), {0, 2, 1, 3});
  return linear(reshape(mixed, {images, tokens, width}), width);
}

Graph NetworkBuilder::finish(ValueId result, double gain) { return finish(std::vector{result}, gain); }

Graph NetworkBuilder::finish(std::vector<ValueId> results, double gain) {
  graph_.outputs = std::move(results);
  Graph filled = fill_lcg_weights(std::move(graph_), {gain, LcgOrder::kConstants});
  for (const auto& [id, number] : numbers_) {
    Tensor& constant = *filled.value(id).constant;
    for (int64_t i = 0; i < constant.size(); ++i) constant.set_number(i, number);
  }
  return filled;
}

}  // namespace tilewright::zoo
