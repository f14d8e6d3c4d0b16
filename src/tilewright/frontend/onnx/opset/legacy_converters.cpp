// What opsets 1 to 5 had otherwise, and their experimental operators, which exports of CoreML networks have.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

// The names of types that Cast took.
std::optional<int64_t> type_code(std::string name) {
  static const std::map<std::string, int64_t> codes = {
      {"FLOAT", 1}, {"UINT8", 2}, {"INT8", 3},     {"UINT16", 4},  {"INT16", 5},   {"INT32", 6},
      {"INT64", 7}, {"BOOL", 9},  {"FLOAT16", 10}, {"DOUBLE", 11}, {"UINT32", 12}, {"UINT64", 13}};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  const auto found = codes.find(name);
  return found == codes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void convert_first_opsets(Node& node, NodeConversion& conversion) {
  const int opset = conversion.opset();
  if (opset >= 6) return;
  node.attributes.erase("consumed_inputs");
  if (node.op == "Reshape" && opset < 5) ints_attribute_to_input(node, conversion, "shape", 1);
  if (node.op == "Concat" && opset < 4 && !node.has("axis")) node.attributes["axis"] = int64_t{1};
  if (node.op == "Pad" && node.has("paddings")) {
    node.attributes["pads"] = node.ints_or("paddings", {});
    node.attributes.erase("paddings");
  }
  if (node.op == "Cast" && node.has("to") && std::holds_alternative<std::string>(node.attributes["to"])) {
    const auto code = type_code(node.string_or("to", ""));
    if (!code) return conversion.unsupported(fmt::format("casts to {}", node.string_or("to", "")));
    node.attributes["to"] = *code;
  }
  static const std::set<std::string> other_forms = {"Tile", "Upsample", "GlobalLpPool", "LpPool"};
  if (other_forms.count(node.op)) {
    conversion.unsupported(fmt::format("has another form in opset {}", opset),
                           "export the model with opset 6 or later");
  }
}

// x * scale + one bias per channel.
void convert_image_scaler(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const ValueId x = node.input(0);
  const std::vector<float> bias = node.floats_or("bias", {});
  const Shape shape = s.shape(x);
  if (shape.rank() != 4 || (!bias.empty() && int64_t(bias.size()) != shape[1])) {
    return conversion.invalid(fmt::format("has {} biases for {}", bias.size(), to_string(shape)));
  }
  ValueId y = s.op("Mul", {x, s.number_like(x, double(node.float_or("scale", 1.0f)))});
  if (!bias.empty()) {
    const Tensor numbers = Tensor(Shape{shape[1], 1, 1}, std::span<const float>(bias)).cast(s.type(x));
    y = s.op("Add", {y, conversion.constant("bias", numbers)});
  }
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

// Either `border` (left, top, right, bottom) taken off, or a window of `scale` (height, width) from there.
void convert_crop(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Shape shape = s.shape(node.input(0));
  const std::vector<int64_t> border = node.ints_or("border", {}), scale = node.ints_or("scale", {});
  if (shape.rank() != 4 || border.size() != 4 || (!scale.empty() && scale.size() != 2)) {
    return conversion.invalid("needs an image of 4 axes, a border of 4 and a scale of 2 numbers");
  }
  const int64_t top = border[1], left = border[0];
  const int64_t bottom = scale.empty() ? shape[2] - border[3] : top + scale[0];
  const int64_t right = scale.empty() ? shape[3] - border[2] : left + scale[1];
  if (top < 0 || left < 0 || bottom <= top || right <= left || bottom > shape[2] || right > shape[3]) {
    return conversion.invalid(fmt::format("cuts rows {} to {} and columns {} to {} out of {}", top, bottom,
                                          left, right, to_string(shape)));
  }
  conversion.define(node.outputs[0], s.slice(s.slice(node.input(0), 2, top, bottom), 3, left, right));
  node.outputs.clear();
}

// Affine: alpha x + beta. ScaledTanh: alpha tanh(beta x).
void convert_affine(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const ValueId x = node.input(0);
  const bool affine = node.op == "Affine";
  const ValueId alpha = s.number_like(x, double(node.float_or("alpha", 1.0f)));
  const ValueId beta = s.number_like(x, double(node.float_or("beta", affine ? 0.0f : 1.0f)));
  const ValueId y = affine ? s.op("Add", {s.op("Mul", {x, alpha}), beta})
                           : s.op("Mul", {alpha, s.op("Tanh", {s.op("Mul", {x, beta})})});
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

}  // namespace tilewright
