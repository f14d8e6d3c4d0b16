// What such a node does follows from the shapes of its input and output alone. In topological order the node
// before it has been shortened already, so one look back makes a chain of any length one node.
#include "tilewright/transform/normalize/normalize_reshapes.h"

#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/permutation.h"

namespace tilewright {
namespace {

bool only_renames(const GraphEditor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (operator_class(node) == OperatorClass::kReshape) return true;
  if (!node.is("Transpose")) return false;
  const Shape& shape = editor.value(node.input(0)).shape;
  return keeps_element_order(permutation_of(node, shape.rank()), shape);
}

// The axis of the Flatten that turns `in` into `out`; -1 when there is none. Axis 1 wins where several do.
int64_t flatten_axis(const Shape& in, const Shape& out) {
  if (out.rank() != 2 || in.rank() < 2) return -1;
  for (int axis = 1; axis < in.rank(); ++axis) {
    if (in.count(0, axis) == out[0] && in.count(axis, in.rank()) == out[1]) return axis;
  }
  return -1;
}

void rewrite_reshape(GraphEditor& editor, NodeId id) {
  const ValueId input = editor.node(id).input(0);
  const Shape in = editor.value(input).shape, out = editor.value(editor.node(id).outputs[0]).shape;
  const int64_t axis = flatten_axis(in, out);
  editor.mutable_node(id).attributes.clear();
  if (axis >= 0) {
    editor.mutable_node(id).op = "Flatten";
    editor.mutable_node(id).attributes["axis"] = axis;
    editor.set_inputs(id, {input});
    return;
  }
  // Zeros in a shape mean "copy this axis" unless allowzero is set.
  for (const int64_t size : out) {
    if (size == 0) editor.mutable_node(id).attributes["allowzero"] = int64_t{1};
  }
  editor.mutable_node(id).op = "Reshape";
  const std::string name = editor.node(id).name + "_shape";
  Tensor shape({int64_t(out.rank())}, std::span<const int64_t>(out.dims()));
  editor.set_inputs(id, {input, editor.add_constant(name, std::move(shape))});
}

// Rewriting makes a new shape constant; do it only where something changes.
bool is_normal_reshape(const GraphEditor& editor, NodeId id) {
  const Node& node = editor.node(id);
  const Shape& in = editor.value(node.input(0)).shape;
  const Shape& out = editor.value(node.outputs[0]).shape;
  const int64_t axis = flatten_axis(in, out);
  if (axis >= 0) return node.is("Flatten") && node.int_or("axis", 1) == axis;
  const Tensor* shape = editor.graph().constant_input(node, 1);
  return node.is("Reshape") && shape != nullptr && shape->to_integers() == out.dims();
}

}  // namespace

Graph normalize_reshapes(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (!only_renames(editor, id)) continue;
    const NodeId source = editor.producer(editor.node(id).input(0));
    if (source != kNoNode && only_renames(editor, source)) {
      editor.set_input(id, 0, editor.node(source).input(0));
      rewrite_reshape(editor, id);
    } else if (!is_normal_reshape(editor, id)) {
      rewrite_reshape(editor, id);
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
