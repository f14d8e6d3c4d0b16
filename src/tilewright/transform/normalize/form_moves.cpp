#include "tilewright/transform/normalize/form_moves.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

bool is_i8(const GraphEditor& editor, ValueId value) {
  return value != kNoValue && editor.value(value).type == ElementType::kI8;
}

ValueId add_integers(GraphEditor& editor, const std::string& name, const std::vector<int64_t>& numbers) {
  return editor.add_constant(name, Tensor(Shape{int64_t(numbers.size())}, std::span<const int64_t>(numbers)));
}

void slice_split(GraphEditor& editor, NodeId id) {
  const Node node = editor.node(id);
  const int64_t rank = editor.value(node.input(0)).shape.rank(), given = node.int_or("axis", 0);
  const int64_t axis = given < 0 ? given + rank : given;
  int64_t begin = 0;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId result = node.outputs[k];
    if (result == kNoValue) return;
    const int64_t end = begin + editor.value(result).shape[int(axis)];
    const std::string name = fmt::format("{}_{}", node.name, k);
    const ValueId starts = add_integers(editor, name + "_starts", {begin});
    const ValueId ends = add_integers(editor, name + "_ends", {end});
    const ValueId axes = add_integers(editor, name + "_axes", {axis});
    if (k == 0) {
      Node& first = editor.mutable_node(id);
      first.op = "Slice";
      first.attributes.clear();
      editor.set_inputs(id, {node.input(0), starts, ends, axes});
    } else {
      editor.set_output(id, int(k), kNoValue);
      editor.insert(name, "Slice", {node.input(0), starts, ends, axes}, {result});
    }
    begin = end;
  }
  editor.mutable_node(id).outputs.resize(1);
}

// `id`, a Reshape to rank 4, ends a channel shuffle: the two factors of its channels, or nullopt.
std::optional<std::pair<int64_t, int64_t>> shuffle_factors(const GraphEditor& editor, NodeId id,
                                                           NodeId& first) {
  const NodeId turn = editor.sole_producer(id, 0, "Transpose");
  if (turn == kNoNode) return std::nullopt;
  first = editor.sole_producer(turn, 0, "Reshape");
  if (first == kNoNode) return std::nullopt;
  const Shape &from = editor.value(editor.node(first).input(0)).shape,
              &apart = editor.value(editor.node(turn).input(0)).shape,
              &to = editor.value(editor.node(id).outputs[0]).shape;
  const std::vector<int64_t> order = editor.node(turn).ints_or("perm", {});
  if (from.rank() != 4 || from != to || apart.rank() != 5 || order != std::vector<int64_t>{0, 2, 1, 3, 4} ||
      apart != Shape{from[0], apart[1], apart[2], from[2], from[3]}) {
    return std::nullopt;
  }
  return std::pair{apart[1], apart[2]};
}

void gather_shuffle(GraphEditor& editor, NodeId id) {
  NodeId first = kNoNode;
  const auto factors = shuffle_factors(editor, id, first);
  if (!factors) return;
  const auto [groups, size] = *factors;
  std::vector<int64_t> order;
  for (int64_t o = 0; o < groups * size; ++o) order.push_back(o % groups * size + o / groups);
  Node& node = editor.mutable_node(id);
  node.op = "Gather";
  node.attributes = {{"axis", int64_t{1}}};
  const ValueId indices = add_integers(editor, node.name + "_channels", order);
  editor.set_inputs(id, {editor.node(first).input(0), indices});
}

// What a chain of reshapes shows.
ValueId source_of(const GraphEditor& editor, ValueId value) {
  for (NodeId producer = editor.producer(value); producer != kNoNode; producer = editor.producer(value)) {
    if (operator_class(editor.node(producer)) != OperatorClass::kReshape) break;
    value = editor.node(producer).input(0);
  }
  return value;
}

void copy_shared_parts(GraphEditor& editor, NodeId id, std::set<ValueId>& taken) {
  const std::vector<ValueId> parts = editor.node(id).inputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (editor.graph().is_constant(parts[i]) || taken.insert(source_of(editor, parts[i])).second) continue;
    const Value part = editor.value(parts[i]);
    const std::string name = fmt::format("{}_part{}", editor.node(id).name, i);
    const ValueId copy = editor.add_value(name, part.type, part.shape);
    const NodeId node = editor.insert(name, "QRequantize", {parts[i]}, {copy});
    editor.mutable_node(node).domain = kTilewrightDomain;
    editor.mutable_node(node).attributes = {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}};
    editor.set_input(id, int(i), copy);
    taken.insert(copy);
  }
}

}  // namespace

Graph form_moves(Graph graph) {
  GraphEditor editor(std::move(graph));
  const NodeId count = editor.node_count();
  std::set<ValueId> taken;
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = editor.node(id);
    if (editor.is_dead(id) || node.outputs.empty() || !is_i8(editor, node.outputs[0])) continue;
    const int rank = editor.value(node.outputs[0]).shape.rank();
    if (node.is("Split")) {
      slice_split(editor, id);
    } else if (node.is("Reshape") && rank == 4) {
      gather_shuffle(editor, id);
    } else if (node.is("Concat") && node.int_or("axis", 0) == 1) {
      copy_shared_parts(editor, id, taken);
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
