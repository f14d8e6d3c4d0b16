// Gives half-precision graph inputs and outputs outer values of the old names and types, widens all others
// with their constants and attributes, joins the two by Casts, and sorts the nodes again.
#include "tilewright/quantize/calibrate/single_precision.h"

#include <algorithm>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

bool is_half(ElementType type) { return type == ElementType::kF16 || type == ElementType::kBF16; }

void widen_attributes(Node& node) {
  for (auto& [key, attribute] : node.attributes) {
    if (Tensor* tensor = std::get_if<Tensor>(&attribute); tensor && is_half(tensor->type())) {
      *tensor = tensor->cast(ElementType::kF32);
    }
    int64_t* number = std::get_if<int64_t>(&attribute);
    if (!number || (key != "to" && key != "dtype")) continue;
    const auto type = element_type_of_onnx(*number);
    if (type && is_half(*type)) *number = *onnx_code_of(ElementType::kF32);
  }
}

}  // namespace

Graph to_single_precision(Graph graph) {
  if (std::none_of(graph.values.begin(), graph.values.end(),
                   [](const Value& v) { return is_half(v.type); })) {
    return graph;
  }
  for (Node& node : graph.nodes) widen_attributes(node);
  const auto cast = [&](ValueId from, ValueId to) {
    graph.add_node(graph.value(to).name + "_cast", "Cast", {from}, {to}).attributes["to"] =
        *onnx_code_of(graph.value(to).type);
  };
  std::vector<ValueId> half_inputs, half_outputs;
  for (ValueId v : graph.inputs) {
    if (is_half(graph.value(v).type)) half_inputs.push_back(v);
  }
  for (ValueId v : graph.outputs) {
    if (is_half(graph.value(v).type)) half_outputs.push_back(v);
  }
  // Graph inputs and outputs become new values of the old types and names, with a Cast between.
  const auto border = [&](ValueId v, std::vector<ValueId>& list) {
    const Value inner = graph.value(v);
    const ValueId outer = graph.add_value(inner.name + "_single", inner.type, inner.shape);
    std::swap(graph.value(v).name, graph.value(outer).name);
    std::replace(list.begin(), list.end(), v, outer);
    return outer;
  };
  std::vector<ValueId> outer_inputs, outer_outputs;
  for (ValueId v : half_inputs) outer_inputs.push_back(border(v, graph.inputs));
  std::sort(half_outputs.begin(), half_outputs.end());
  half_outputs.erase(std::unique(half_outputs.begin(), half_outputs.end()), half_outputs.end());
  for (ValueId v : half_outputs) outer_outputs.push_back(border(v, graph.outputs));
  for (ValueId v = 0; v < ValueId(graph.values.size()); ++v) {
    const auto is_outer = [&](const std::vector<ValueId>& list) {
      return std::find(list.begin(), list.end(), v) != list.end();
    };
    Value& value = graph.value(v);
    if (!is_half(value.type) || is_outer(outer_inputs) || is_outer(outer_outputs)) continue;
    value.type = ElementType::kF32;
    if (value.constant) value.constant = value.constant->cast(ElementType::kF32);
  }
  for (size_t i = 0; i < half_inputs.size(); ++i) cast(outer_inputs[i], half_inputs[i]);
  for (size_t i = 0; i < half_outputs.size(); ++i) cast(half_outputs[i], outer_outputs[i]);
  graph.sort_topologically();
  return graph;
}

}  // namespace tilewright
