// MatMul equals a Gemm with all attributes at their defaults, so the node is only renamed. A Gemm that was
// one before takes the Add after it as well, if it has no bias yet.
#include "tilewright/transform/normalize/form_gemm.h"

#include <optional>

#include "tilewright/graph/channel_affine.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

bool is_dense(const GraphEditor& editor, const Node& node) {
  if (!node.is("MatMul") || editor.graph().constant_input(node, 1) == nullptr) return false;
  const Value& x = editor.value(node.input(0));
  return x.type == ElementType::kF32 && !x.constant && x.shape.rank() == 2 &&
         editor.value(node.input(1)).shape.rank() == 2;
}

// `add` as a bias for the columns of the Gemm `id`.
void take_bias(GraphEditor& editor, NodeId id) {
  const ValueId product = editor.node(id).outputs[0];
  const NodeId add = editor.only_reader(product);
  if (add == kNoNode || !editor.node(add).is("Add") || editor.node(id).has_input(2)) return;
  const int side = editor.node(add).input(0) == product ? 1 : 0;
  const Tensor* constant = editor.graph().constant_input(editor.node(add), side);
  const Shape shape = editor.value(product).shape;
  if (constant == nullptr || editor.value(editor.node(add).outputs[0]).shape != shape) return;
  const std::optional<std::vector<double>> columns = channel_constant(*constant, shape);
  if (!columns || constant->type() != ElementType::kF32) return;
  const std::vector<float> bias(columns->begin(), columns->end());
  const std::string name = editor.node(id).name + "_bias";
  editor.set_input(id, 2, editor.add_constant(name, Tensor(Shape{shape[1]}, std::span<const float>(bias))));
  editor.mutable_node(id).attributes.erase("beta");  // it scaled a bias that was not there
  editor.absorb(id, add);
}

}  // namespace

Graph form_gemm(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (editor.is_dead(id)) continue;
    if (is_dense(editor, editor.node(id))) editor.mutable_node(id).op = "Gemm";
    if (editor.node(id).is("Gemm")) take_bias(editor, id);
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
