// Source of the differences: the operator changelog of the ONNX specification; opset_shape_converters.cpp has
// the way back.
#include "tilewright/frontend/onnx/opset/newer_opset.h"

#include <fmt/format.h>

#include <set>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

bool has_four_bits(ElementType type) { return type == ElementType::kI4 || type == ElementType::kU4; }

bool quantizes(const Node& node) { return node.is("QuantizeLinear") || node.is("DequantizeLinear"); }

// The integers of a quantiser.
ElementType integers_of(const Graph& graph, const Node& node) {
  return graph.value(node.is("QuantizeLinear") ? node.outputs[0] : node.inputs[0]).type;
}

// Opset 13 reads i32, as biases are, and never writes it.
bool is_known_to_onnx(const Node& node, ElementType integers) {
  return bit_width(integers) <= 16 || (integers == ElementType::kI32 && node.is("DequantizeLinear"));
}

bool takes_axes_as_input(const Node& node) {
  static const std::set<std::string> reductions = {"ReduceL1",  "ReduceL2",   "ReduceMax",      "ReduceMean",
                                                   "ReduceMin", "ReduceProd", "ReduceSumSquare"};
  return node.domain.empty() && reductions.count(node.op) != 0;
}

}  // namespace

int opset_to_write(const Graph& graph) {
  bool is_newer = false;
  for (const Value& value : graph.values) is_newer |= has_four_bits(value.type);
  for (const Node& node : graph.nodes) {
    if (!quantizes(node)) continue;
    const ElementType integers = integers_of(graph, node), scale = graph.value(node.inputs[1]).type;
    if (!is_known_to_onnx(node, integers)) {
      const std::string message =
          fmt::format("has integers of type {}, for which ONNX has no such operator", name(integers));
      throw Error({{ErrorKind::kUnsupported, where(node), node.op, message, "quantise to at most 16 bits"}});
    }
    is_newer |= bit_width(integers) == 16 || scale == ElementType::kF16 || scale == ElementType::kBF16;
  }
  return is_newer ? kNewerOpset : kUsualOpset;
}

Graph in_newer_opset(Graph graph) {
  for (Node& node : graph.nodes) {
    if (takes_axes_as_input(node)) {
      const std::vector<int64_t> axes = node.ints_or("axes", {});
      node.attributes.erase("axes");
      if (axes.empty()) continue;  // all of them, in both
      input_slot(node, 1) = graph.add_constant(node.name + "/axes", int64_list(axes));
    } else if (node.is("Split") && !node.has_input(1)) {
      node.attributes["num_outputs"] = int64_t(node.outputs.size());
    }
  }
  return graph;
}

}  // namespace tilewright
