// Operators that only move data, and activations that only clip: quantisation commutes with both, because it
// is monotone and works element by element.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/graph/operator_class.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {
namespace {

// The integer of `form` that stands for `number`.
int64_t number_in(const IntegerForm& form, float number) {
  if (form.bipolar) return number >= 0 ? 1 : -1;
  return quantize_number(number, form.quantization, form.low, form.high);
}

}  // namespace

std::optional<float> pad_number(const Graph& graph, const Node& node) {
  if (node.string_or("mode", "constant") != "constant") return std::nullopt;
  if (!node.has_input(2)) return 0.0f;
  const Tensor* constant = graph.constant_input(node, 2);
  if (!constant || constant->size() != 1) return std::nullopt;
  return float(constant->number_at(0));
}

std::optional<std::pair<float, float>> clip_interval(const Graph& graph, const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (node.is("Relu")) return std::pair{0.0f, kInfinity};
  if (!node.is("Clip")) return std::nullopt;
  std::pair interval{-kInfinity, kInfinity};
  for (int i : {1, 2}) {
    if (!node.has_input(i)) continue;
    const Tensor* bound = graph.constant_input(node, i);
    if (!bound || bound->size() != 1) return std::nullopt;
    (i == 1 ? interval.first : interval.second) = float(bound->number_at(0));
  }
  if (std::isnan(interval.first) || std::isnan(interval.second)) return std::nullopt;
  // ONNX: an interval that is upside down gives its maximum.
  interval.first = std::min(interval.first, interval.second);
  return interval;
}

bool only_moves_data(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.outputs.empty()) return false;
  if (node.is("Pad")) {
    const std::string mode = node.string_or("mode", "constant");
    if (mode == "constant") return pad_number(graph, node).has_value() && !node.has_input(3);
    return (mode == "reflect" || mode == "edge") && !node.has_input(3);
  }
  if (node.is("Resize")) {
    return node.string_or("mode", "nearest") == "nearest" &&
           node.string_or("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
  }
  if (!only_selects(node)) return false;
  if (node.is("Dropout") || node.is("MaxPool")) {
    return node.outputs.size() == 1 || node.outputs[1] == kNoValue;
  }
  return true;
}

bool pads_representably(const Graph& graph, const Node& node, const Quantization& q, ElementType type) {
  if (!node.is("Pad") || node.string_or("mode", "constant") != "constant") return true;
  const std::optional<float> number = pad_number(graph, node);
  return number &&
         float(dequantize_number(quantize_number(*number, q, lowest(type), highest(type)), q)) == *number;
}

std::vector<ValueId> emit_movement(IntegerBuilder& builder, const Node& node, ValueId x,
                                   const IntegerForm& form) {
  std::vector<ValueId> inputs{x};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(builder.native(node.inputs[i]));
  if (node.is("Pad")) {
    inputs.resize(2);  // other modes ignore the number, whose type is no longer that of the data
    if (const auto number = pad_number(builder.source(), node)) {
      Tensor padding(builder.graph().value(x).type, Shape{});
      padding.set_integer(0, number_in(form, *number));
      inputs.push_back(builder.add_constant(form.name + "_padding", std::move(padding)));
    }
  }
  const bool dropout = node.is("Dropout");  // in inference, and ONNX has it for floats only
  if (dropout) inputs.resize(1);
  std::vector<ValueId> outputs;
  for (ValueId old : node.outputs) {
    if (old == kNoValue) break;  // only the indices of MaxPool and the mask of Dropout can be absent
    outputs.push_back(
        builder.add_value(form.name, builder.graph().value(x).type, builder.source().value(old).shape));
  }
  Node& moved = builder.add_node(node, dropout ? "Identity" : node.op, "", std::move(inputs), outputs, true);
  if (!dropout) moved.attributes = node.attributes;
  return outputs;
}

ValueId emit_clip(IntegerBuilder& builder, const Node& node, ValueId x, int64_t low, int64_t high,
                  const std::string& name) {
  const ElementType type = builder.graph().value(x).type;
  const ValueId out = builder.add_value(name, type, builder.graph().value(x).shape);
  const ValueId from = builder.zero_point_constant(type, low);
  const ValueId to = builder.zero_point_constant(type, high);
  builder.add_node(node, "Clip", "", {x, from, to}, {out}, true);
  return out;
}

}  // namespace tilewright
