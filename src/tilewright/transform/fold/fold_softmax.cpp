// One walk; the product takes the table as its third input and the numbers under names of their own.
#include "tilewright/transform/fold/fold_softmax.h"

#include <utility>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

bool gives_bytes(const Node& node) {
  return output_type(node) == ElementType::kI8 && node.int_or("bipolar", 0) == 0;
}

}  // namespace

Graph fold_softmax(Graph graph, const std::function<bool(const Graph&, const Node&)>& takes) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (editor.is_dead(id) || !editor.node(id).is_tilewright("QSoftmax")) continue;
    const Node softmax = editor.node(id);
    const ValueId scores = softmax.input(0), table = softmax.input(1);
    const NodeId producer = editor.producer(scores);
    if (producer == kNoNode || editor.only_reader(scores) != id || !editor.graph().is_constant(table))
      continue;
    const Node& product = editor.node(producer);
    if (!product.is_tilewright("QMatMul") || product.has_input(2) || !gives_bytes(product) ||
        !gives_bytes(softmax))
      continue;
    // Of causal ones those for one token at a place that is given.
    if (const int64_t causal = softmax.int_or("causal", 0);
        causal > 1 || (causal == 1) != softmax.has_input(2))
      continue;
    const bool side_by_side = product.int_or("heads", 1) > 1 && product.int_or("y_columns", 0) != 0;
    if (side_by_side || !takes(editor.graph(), product)) continue;
    editor.set_input(producer, 2, table);
    if (softmax.has_input(2)) editor.set_input(producer, 3, softmax.input(2));
    Node& both = editor.mutable_node(producer);
    const std::pair<const char*, const char*> names[] = {{"numerator", "softmax_numerator"},
                                                         {"shift", "softmax_shift"},
                                                         {"y_zero_point", "softmax_zero_point"},
                                                         {"clip_low", "softmax_clip_low"},
                                                         {"clip_high", "softmax_clip_high"}};
    for (const auto& [from, to] : names) {
      if (const auto found = softmax.attributes.find(from); found != softmax.attributes.end())
        both.attributes[to] = found->second;
    }
    editor.absorb(producer, id);
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
