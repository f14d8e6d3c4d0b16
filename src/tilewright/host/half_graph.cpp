// Rewrites the types of values and their constants, of tensor attributes, and the target of each Cast. No
// node is added or removed.
#include "tilewright/host/half_graph.h"

#include <algorithm>

#include "tilewright/graph/operators/operators.h"
#include "tilewright/host/half_conversion.h"

namespace tilewright {

bool has_half_values(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const Value& value) { return is_half(value.type); });
}

Graph with_half_as_float(Graph graph) {
  for (Value& value : graph.values) {
    if (!is_half(value.type)) continue;
    value.type = ElementType::kF32;
    if (value.constant) value.constant = widen_half(*value.constant);
  }
  for (Node& node : graph.nodes) {
    for (auto& [name, attribute] : node.attributes) {
      Tensor* tensor = std::get_if<Tensor>(&attribute);
      if (tensor != nullptr && is_half(tensor->type())) *tensor = widen_half(*tensor);
    }
    if (!node.is("Cast")) continue;
    const auto to = element_type_of_onnx(node.int_or("to", 0));
    if (to && is_half(*to)) node.attributes["to"] = *onnx_code_of(ElementType::kF32);
  }
  return graph;
}

}  // namespace tilewright
