// Sum is split from the left, (a + b) + c. Sub comes next and the order of operands last, so that one walk
// does all three.
#include "tilewright/transform/normalize/normalize_sums.h"

#include <utility>

#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

void split_sum(GraphEditor& editor, NodeId id) {
  const std::vector<ValueId> terms = editor.node(id).inputs;
  const std::string name = editor.node(id).name;
  const ElementType type = editor.value(terms.front()).type;
  ValueId partial = terms.front();
  for (size_t k = 1; k + 1 < terms.size(); ++k) {
    const Shape shape = broadcast(editor.value(partial).shape, editor.value(terms[k]).shape);
    const ValueId sum = editor.add_value(name + "_partial", type, shape);
    editor.insert(name + "_partial", "Add", {partial, terms[k]}, {sum});
    partial = sum;
  }
  editor.mutable_node(id).op = "Add";
  editor.set_inputs(id, {partial, terms.back()});
}

void negate_subtrahend(GraphEditor& editor, NodeId id) {
  const Tensor* constant = editor.graph().constant_input(editor.node(id), 1);
  if (constant == nullptr || constant->type() != ElementType::kF32) return;
  Tensor negated = *constant;
  for (float& value : negated.mutable_data<float>()) value = -value;
  const std::string name = editor.value(editor.node(id).input(1)).name + "_negated";
  editor.set_input(id, 1, editor.add_constant(name, std::move(negated)));
  editor.mutable_node(id).op = "Add";
}

}  // namespace

Graph normalize_sums(Graph graph) {
  GraphEditor editor(std::move(graph));
  const NodeId count = editor.node_count();
  for (NodeId id = 0; id < count; ++id) {
    if (editor.node(id).is("Sum") && editor.node(id).inputs.size() >= 2) split_sum(editor, id);
    if (editor.node(id).is("Sub")) negate_subtrahend(editor, id);
    const Node& node = editor.node(id);
    if ((node.is("Add") || node.is("Mul")) && editor.graph().is_constant(node.input(0)) &&
        !editor.graph().is_constant(node.input(1))) {
      editor.set_inputs(id, {node.input(1), node.input(0)});
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
