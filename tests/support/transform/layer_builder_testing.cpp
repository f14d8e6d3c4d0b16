// Weights of Conv and Gemm are uniform within sqrt(3 / fan-in), which keeps the variance of the activations
// (LeCun, Bottou, Orr, Mueller, "Efficient BackProp", 1998). Types and shapes come from shape inference,
// node by node.
#include "support/transform/layer_builder_testing.h"

#include <cmath>

#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright {

ValueId LayerBuilder::input(Shape shape, const std::string& name) {
  return graph_.add_input(name, ElementType::kF32, std::move(shape));
}

ValueId LayerBuilder::constant(Tensor tensor, const std::string& name) {
  return graph_.add_constant(name, std::move(tensor));
}

ValueId LayerBuilder::uniform(Shape shape, double low, double high, const std::string& name) {
  Tensor tensor(ElementType::kF32, std::move(shape));
  for (float& value : tensor.mutable_data<float>()) value = float(low + (high - low) * random_.uniform());
  return constant(std::move(tensor), name);
}

ValueId LayerBuilder::integers(const std::vector<int64_t>& values) {
  return constant(Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)), "i");
}

ValueId LayerBuilder::node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                           int outputs) {
  Node& added = graph_.add_node(op, op, std::move(inputs), {});
  added.attributes = std::move(attributes);
  added.outputs.assign(size_t(outputs), kNoValue);
  const std::vector<TypedShape> inferred = infer_node(graph_, added);
  for (size_t k = 0; k < size_t(outputs); ++k) {
    added.outputs[k] = graph_.add_value(op, inferred[k].type, inferred[k].shape);
  }
  return added.outputs[0];
}

ValueId LayerBuilder::conv(ValueId x, const ConvLayer& layer) {
  const Shape in = shape(x);
  const int64_t fan_in = in[1] / layer.group * layer.kernel * layer.kernel;
  const double reach = std::sqrt(3.0 / double(fan_in));
  std::vector<ValueId> inputs = {
      x, uniform({layer.channels, in[1] / layer.group, layer.kernel, layer.kernel}, -reach, reach)};
  if (layer.bias) inputs.push_back(uniform({layer.channels}, -0.5, 0.5, "b"));
  return node("Conv", inputs,
              {{"strides", std::vector<int64_t>{layer.stride, layer.stride}},
               {"dilations", std::vector<int64_t>{layer.dilation, layer.dilation}},
               {"pads", std::vector<int64_t>(4, layer.pad)},
               {"group", layer.group}});
}

ValueId LayerBuilder::conv_transpose(ValueId x, const ConvLayer& layer) {
  const Shape in = shape(x);
  const double reach = std::sqrt(3.0 / double(in[1] / layer.group * layer.kernel));
  std::vector<ValueId> inputs = {
      x, uniform({in[1], layer.channels / layer.group, layer.kernel, layer.kernel}, -reach, reach)};
  if (layer.bias) inputs.push_back(uniform({layer.channels}, -0.5, 0.5, "b"));
  return node("ConvTranspose", inputs,
              {{"strides", std::vector<int64_t>{layer.stride, layer.stride}},
               {"dilations", std::vector<int64_t>{layer.dilation, layer.dilation}},
               {"pads", std::vector<int64_t>(4, layer.pad)},
               {"group", layer.group}});
}

ValueId LayerBuilder::batch_norm(ValueId x) {
  const Shape channels{shape(x)[1]};
  return node("BatchNormalization",
              {x, uniform(channels, 0.5, 1.5, "scale"), uniform(channels, -0.5, 0.5, "shift"),
               uniform(channels, -0.3, 0.3, "mean"), uniform(channels, 0.2, 1.5, "variance")});
}

ValueId LayerBuilder::pool(ValueId x, const std::string& op, int64_t kernel, int64_t stride, int64_t pad) {
  return node(op, {x},
              {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
               {"strides", std::vector<int64_t>{stride, stride}},
               {"pads", std::vector<int64_t>(4, pad)}});
}

ValueId LayerBuilder::pad(ValueId x, const std::vector<int64_t>& amounts, float value) {
  std::vector<ValueId> inputs = {x, integers(amounts)};
  if (value != 0) inputs.push_back(constant(Tensor::scalar(value), "pad_value"));
  return node("Pad", inputs);
}

ValueId LayerBuilder::transpose(ValueId x, const std::vector<int64_t>& perm) {
  return node("Transpose", {x}, {{"perm", perm}});
}

ValueId LayerBuilder::reshape(ValueId x, const std::vector<int64_t>& new_shape) {
  return node("Reshape", {x, integers(new_shape)});
}

ValueId LayerBuilder::dense(ValueId x, int64_t columns) {
  const int64_t rows = shape(x)[1];
  const double reach = std::sqrt(3.0 / double(rows));
  return node("Gemm", {x, uniform({rows, columns}, -reach, reach), uniform({columns}, -0.5, 0.5, "b")});
}

Graph LayerBuilder::finish(const std::vector<ValueId>& outputs) {
  graph_.outputs = outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    graph_.value(outputs[k]).name = k == 0 ? "y" : "y_" + std::to_string(k);
  }
  graph_.name = "built";
  return std::move(graph_);
}

}  // namespace tilewright
