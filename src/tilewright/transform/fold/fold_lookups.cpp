// One walk each. A chain of lookups folds into one operator only once: its second table stands in a
// QRequantize.
#include "tilewright/transform/fold/fold_lookups.h"

#include <utility>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

// The operator whose output stage can take the table of lookup `id`, or kNoNode.
NodeId host_of_table(const GraphEditor& editor, NodeId id) {
  const ValueId value = editor.node(id).input(0);
  const NodeId producer = editor.producer(value);
  if (producer == kNoNode || editor.only_reader(value) != id) return kNoNode;
  const Node& node = editor.node(producer);
  const int table = table_input(node);
  const bool free = table >= 0 && !node.has_input(table) && node.int_or("bipolar", 0) == 0 &&
                    output_type(node) == ElementType::kI8;
  return free ? producer : kNoNode;
}

// Output stages have tables of 256 bytes; those of 16-bit activations stay with their operator.
bool is_of_bytes(const GraphEditor& editor, NodeId id) {
  const Node& node = editor.node(id);
  return editor.value(node.input(0)).type == ElementType::kI8 &&
         editor.value(node.input(1)).type == ElementType::kI8;
}

}  // namespace

Graph fold_lookups(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (editor.is_dead(id) || !editor.node(id).is_tilewright("QLookup")) continue;
    const ValueId table = editor.node(id).input(1);
    if (!editor.graph().is_constant(table) || !is_of_bytes(editor, id)) continue;
    const NodeId producer = host_of_table(editor, id);
    if (producer != kNoNode) {
      editor.set_input(producer, table_input(editor.node(producer)), table);
      editor.absorb(producer, id);
      continue;
    }
    Node& node = editor.mutable_node(id);
    node.op = "QRequantize";
    node.attributes = {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}};
  }
  return std::move(editor).finish();
}

Graph split_lookups(Graph graph) {
  GraphEditor editor(std::move(graph));
  const NodeId count = editor.node_count();
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = editor.node(id);
    const int index = table_input(node);
    if (!node.has_input(index)) continue;
    const ValueId table = node.input(index), result = node.outputs[0];
    const Value& value = editor.value(result);
    const ValueId before = editor.add_value(value.name + "_before_table", value.type, value.shape);
    const std::string name = node.name + "_table";
    std::vector<ValueId> inputs = node.inputs;
    inputs.resize(size_t(index));
    editor.set_inputs(id, std::move(inputs));
    editor.set_output(id, 0, before);
    const NodeId lookup = editor.insert(name, "QLookup", {before, table}, {result});
    editor.mutable_node(lookup).domain = kTilewrightDomain;
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
