// Moves between attributes and inputs, the Reshape of a constant or of a value, and checked axes.
#include "tilewright/frontend/onnx/opset/opset_helpers.h"

#include <fmt/format.h>

namespace tilewright {

ValueId& input_slot(Node& node, size_t index) {
  if (node.inputs.size() <= index) node.inputs.resize(index + 1, kNoValue);
  return node.inputs[index];
}

void trim_absent(Node& node) {
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  while (node.outputs.size() > 1 && node.outputs.back() == kNoValue) node.outputs.pop_back();
}

void define_all(Node& node, NodeConversion& conversion, const std::vector<ValueId>& values) {
  for (size_t i = 0; i < node.outputs.size() && i < values.size(); ++i) {
    if (node.outputs[i] != kNoValue) conversion.define(node.outputs[i], values[i]);
  }
  node.outputs.clear();
}

Tensor int64_list(const std::vector<int64_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values));
}

Tensor scalar_of(ElementType type, double value) {
  Tensor tensor(type, Shape{});
  tensor.set_number(0, value);
  return tensor;
}

void ints_attribute_to_input(Node& node, NodeConversion& conversion, const std::string& attribute,
                             size_t index) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return;
  const int64_t* one = std::get_if<int64_t>(&found->second);
  const std::vector<int64_t> values = one ? std::vector<int64_t>{*one} : node.ints_or(attribute, {});
  node.attributes.erase(attribute);
  input_slot(node, index) = conversion.constant(attribute, int64_list(values));
}

bool int_input_to_attribute(Node& node, NodeConversion& conversion, const std::string& attribute,
                            size_t index) {
  const auto tensor = conversion.constant_of(node.input(int(index)));
  if (!tensor || !is_integer(tensor->type())) {
    conversion.unsupported(fmt::format("its input '{}' is not a constant list of integers", attribute));
    return false;
  }
  node.attributes[attribute] = tensor->to_integers();
  node.inputs[index] = kNoValue;
  return true;
}

ValueId reshaped(NodeConversion& conversion, ValueId x, const Shape& shape) {
  if (const auto tensor = conversion.constant_of(x)) {
    return conversion.constant("reshaped", tensor->reshaped(shape));
  }
  return conversion.emit("Reshape", {x, conversion.constant("shape", int64_list(shape.dims()))});
}

std::optional<std::vector<int>> checked_axes(NodeConversion& conversion, const std::vector<int64_t>& axes,
                                             int rank) {
  std::vector<int> result;
  std::vector<bool> seen(size_t(rank), false);
  for (const int64_t axis : axes) {
    const int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank || seen[size_t(positive)]) {
      conversion.invalid(fmt::format("axis {} is out of range for rank {}, or named twice", axis, rank));
      return std::nullopt;
    }
    seen[size_t(positive)] = true;
    result.push_back(int(positive));
  }
  return result;
}

}  // namespace tilewright
