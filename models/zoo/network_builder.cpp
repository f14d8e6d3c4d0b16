// Constants are made as zeros and drawn at the end, in one pass over the whole graph: their role (weight,
// bias, normalisation) follows from the node that reads them.
#include "zoo/network_builder.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/lcg_weights.h"

namespace tilewright::zoo {
namespace {

std::map<std::string, Attribute> window_attributes(const Window& window) {
  return {{"kernel_shape", std::vector<int64_t>(2, window.kernel)},
          {"strides", std::vector<int64_t>(2, window.stride)},
          {"pads", std::vector<int64_t>(4, window.pad)}};
}

}  // namespace

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

ValueId NetworkBuilder::conv(ValueId x, int64_t outputs, const Window& window) {
  const ValueId w = weights("weight", {outputs, channels(x) / window.groups, window.kernel, window.kernel});
  const ValueId b = weights("bias", {outputs});
  auto attributes = window_attributes(window);
  attributes["group"] = window.groups;
  return node("Conv", {x, w, b}, std::move(attributes));
}

ValueId NetworkBuilder::conv_bn(ValueId x, int64_t outputs, const Window& window) {
  const ValueId w = weights("weight", {outputs, channels(x) / window.groups, window.kernel, window.kernel});
  auto attributes = window_attributes(window);
  attributes["group"] = window.groups;
  return batch_norm(node("Conv", {x, w}, std::move(attributes)));
}

ValueId NetworkBuilder::conv_bn_relu(ValueId x, int64_t outputs, const Window& window) {
  return relu(conv_bn(x, outputs, window));
}

ValueId NetworkBuilder::conv_relu(ValueId x, int64_t outputs, const Window& window) {
  return relu(conv(x, outputs, window));
}

ValueId NetworkBuilder::transposed(ValueId x, int64_t outputs, const Window& window) {
  const ValueId w = weights("weight", {channels(x), outputs, window.kernel, window.kernel});
  auto attributes = window_attributes(window);
  if (window.output_pad != 0) attributes["output_padding"] = std::vector<int64_t>(2, window.output_pad);
  return node("ConvTranspose", {x, w}, std::move(attributes));
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
  return node("MaxPool", {x}, window_attributes(window));
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

Graph NetworkBuilder::finish(ValueId result, double gain) {
  graph_.outputs = {result};
  return fill_lcg_weights(std::move(graph_), {gain, LcgOrder::kConstants});
}

}  // namespace tilewright::zoo
