// The node's input and output must agree in type and shape; hands_on() then says what else its operator
// needs. Add and Mul with the neutral element in front come first, since they hand on their second input.
#include "tilewright/transform/normalize/remove_no_ops.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/value_range.h"

namespace tilewright {
namespace {

bool is_any(const Node& node, std::initializer_list<std::string_view> ops) {
  return node.domain.empty() && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

bool constant_is(const Graph& graph, const Node& node, int index, double number) {
  const Tensor* constant = graph.constant_input(node, index);
  if (constant == nullptr) return false;
  for (int64_t k = 0; k < constant->size(); ++k) {
    if (constant->number_at(k) != number) return false;
  }
  return true;
}

bool all_equal(const std::vector<int64_t>& list, int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == value; });
}

// The axes longer than 1 keep their order.
bool transposes_nothing(const Node& node, const Shape& input) {
  std::vector<int64_t> reversed;
  for (int axis = input.rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
  int64_t last = -1;
  for (const int64_t axis : node.ints_or("perm", reversed)) {
    if (axis < 0 || axis >= input.rank()) return false;
    if (input[int(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is_single_element_pool(const Node& node, const Shape& input) {
  if (is_any(node, {"GlobalAveragePool", "GlobalMaxPool"})) return input.count(2, input.rank()) == 1;
  return is_any(node, {"AveragePool", "MaxPool"}) && all_equal(node.ints_or("kernel_shape", {0}), 1) &&
         all_equal(node.ints_or("strides", {}), 1) && all_equal(node.ints_or("pads", {}), 0);
}

// Input and output have one shape and type; `node` has one live output.
bool hands_on(const GraphEditor& editor, const Node& node, const Shape& shape) {
  const Graph& graph = editor.graph();
  const bool one_input = node.inputs.size() == 1;
  if (is_any(node, {"Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand"})) return true;
  if (is_any(node, {"Concat", "Sum", "Max", "Min", "Mean"})) return one_input;
  if (node.is("Split")) return node.outputs.size() == 1;
  if (node.is("Dropout")) return !node.has_input(2) || constant_is(graph, node, 2, 0);
  if (node.is("Transpose")) return transposes_nothing(node, shape);
  if (node.is("Pad")) return constant_is(graph, node, 1, 0) && node.string_or("mode", "constant") != "wrap";
  if (node.is("Tile")) return constant_is(graph, node, 1, 1);
  if (node.is("Slice")) return !node.has_input(4) || constant_is(graph, node, 4, 1);
  if (node.is("Clip")) return !node.has_input(1) && !node.has_input(2);
  if (node.is("Relu")) return is_non_negative(editor, node.input(0));
  if (is_any(node, {"ReduceMean", "ReduceMax", "ReduceMin"})) return true;  // over axes of size 1
  if (node.is("Resize")) {
    // A scale near 1 can round to the same size and still resample.
    const Tensor* scales = graph.constant_input(node, 2);
    const bool by_sizes = !node.has_input(2) || (scales != nullptr && scales->size() == 0);
    return node.string_or("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize" &&
           (by_sizes || constant_is(graph, node, 2, 1));
  }
  if (is_any(node, {"Add", "Sub"})) return constant_is(graph, node, 1, 0);
  if (is_any(node, {"Mul", "Div"})) return constant_is(graph, node, 1, 1);
  return is_single_element_pool(node, shape);
}

}  // namespace

Graph remove_no_ops(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    const Node& node = editor.node(id);
    if (!node.has_input(0) || node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    if ((node.is("Add") || node.is("Mul")) && constant_is(editor.graph(), node, 0, node.is("Mul") ? 1 : 0)) {
      editor.bypass(id, 1);
      continue;
    }
    const Value& in = editor.value(node.input(0));
    const Value& out = editor.value(node.outputs[0]);
    if (in.shape == out.shape && in.type == out.type && hands_on(editor, node, in.shape)) editor.bypass(id);
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
