// One walk for the single operators, then one over the concatenations, which need to know their readers.
#include "tilewright/transform/normalize/form_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
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

void copy_part(GraphEditor& editor, NodeId id, size_t i) {
  const ValueId from = editor.node(id).inputs[i];
  const Value part = editor.value(from);
  const std::string name = fmt::format("{}_part{}", editor.node(id).name, i);
  const ValueId copy = editor.add_value(name, part.type, part.shape);
  const NodeId node = editor.insert(name, "QRequantize", {from}, {copy});
  editor.mutable_node(node).domain = kTilewrightDomain;
  editor.mutable_node(node).attributes = {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}};
  editor.set_input(id, int(i), copy);
}

// The operator that makes `value` for one reader alone.
NodeId sole_maker(const GraphEditor& editor, ValueId value) {
  const NodeId producer = editor.producer(value);
  const bool alone = producer != kNoNode && editor.readers(value).size() == 1 &&
                     !editor.graph().is_output(value) &&
                     operator_class(editor.node(producer)) != OperatorClass::kReshape;
  return alone ? producer : kNoNode;
}

// Batch, channels, height and width; rank 3 is one row.
std::array<int64_t, 4> image_of(const Shape& shape) {
  const int rank = shape.rank();
  return {shape[0], shape[1], rank == 4 ? shape[2] : 1, rank > 2 ? shape[rank - 1] : 1};
}

// Made by a Reshape to another image, which only the host can do.
bool is_reshaped(const GraphEditor& editor, ValueId value) {
  const NodeId producer = editor.producer(value);
  if (producer == kNoNode || operator_class(editor.node(producer)) != OperatorClass::kReshape) return false;
  const Shape &from = editor.value(editor.node(producer).input(0)).shape, &to = editor.value(value).shape;
  return from.rank() < 2 || from.rank() > 4 || image_of(from) != image_of(to);
}

// Parts behind each other (channels) may be read by others; parts side by side, and what they are put
// together from, may not.
void copy_shared_parts(GraphEditor& editor, NodeId id, bool side_by_side, std::set<ValueId>& taken) {
  const std::vector<ValueId> parts = editor.node(id).inputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (editor.graph().is_constant(parts[i])) continue;
    const NodeId maker = side_by_side ? sole_maker(editor, parts[i]) : kNoNode;
    if (maker != kNoNode && editor.node(maker).is("Concat")) copy_shared_parts(editor, maker, true, taken);
    if (side_by_side ? maker != kNoNode : taken.insert(source_of(editor, parts[i])).second) continue;
    copy_part(editor, id, i);
    taken.insert(editor.node(id).inputs[i]);
  }
}

// Which elements of an axis of `size` a padding takes: before, and after it; nullopt: more than it has.
using Border = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
std::optional<Border> border_of(bool edge, int64_t size, int64_t before, int64_t after) {
  constexpr int64_t kMost = 4;  // an operator for each row and column
  if (before < 0 || after < 0 || before > kMost || after > kMost) return std::nullopt;
  if (!edge && std::max(before, after) >= size) return std::nullopt;
  Border border;
  for (int64_t i = 0; i < before; ++i) border.first.push_back(edge ? 0 : before - i);
  for (int64_t i = 0; i < after; ++i) border.second.push_back(edge ? size - 1 : size - 2 - i);
  return border;
}

// A Pad that repeats or mirrors the border of images becomes slices side by side.
class BorderPad {
 public:
  BorderPad(GraphEditor& editor, NodeId id) : editor_(editor), id_(id), node_(editor.node(id)) {}

  void run() {
    const bool edge = node_.string_or("mode", "constant") == "edge";
    if (!edge && node_.string_or("mode", "constant") != "reflect") return;
    const Shape shape = editor_.value(node_.input(0)).shape;
    const Tensor* pads = editor_.graph().constant_input(node_, 1);
    const int rank = shape.rank();
    if (rank < 3 || rank > 4 || !pads || pads->size() != 2 * rank || node_.has_input(3)) return;
    if (pads->integer_at(0) != 0 || pads->integer_at(1) != 0 || pads->integer_at(rank) != 0 ||
        pads->integer_at(rank + 1) != 0) {
      return;
    }
    const auto axis = [&](int a) {
      return border_of(edge, shape[a], pads->integer_at(a), pads->integer_at(rank + a));
    };
    const auto rows = rank == 4 ? axis(2) : border_of(edge, 1, 0, 0), columns = axis(rank - 1);
    if (!rows || !columns) return;
    columns_ = *columns;
    std::vector<ValueId> parts;
    if (rows->first.empty() && rows->second.empty()) {
      parts = pieces(-1);
    } else {
      for (const int64_t row : rows->first) parts.push_back(band(row));
      parts.push_back(band(-1));
      for (const int64_t row : rows->second) parts.push_back(band(row));
    }
    if (parts.size() == 1) return;
    const bool bands = !rows->first.empty() || !rows->second.empty();
    Node& node = editor_.mutable_node(id_);
    node.op = "Concat";
    node.attributes = {{"axis", int64_t(bands ? 2 : rank - 1)}};
    editor_.set_inputs(id_, parts);
  }

 private:
  // Row `row` of the image, or all of it (-1), with its border on both sides.
  std::vector<ValueId> pieces(int64_t row) {
    std::vector<ValueId> all;
    for (const int64_t column : columns_.first) all.push_back(piece(row, column));
    all.push_back(row < 0 ? node_.input(0) : piece(row, -1));
    for (const int64_t column : columns_.second) all.push_back(piece(row, column));
    return all;
  }

  // The same as one value.
  ValueId band(int64_t row) {
    const std::vector<ValueId> parts = pieces(row);
    if (parts.size() == 1) return parts[0];
    Shape shape = editor_.value(parts[0]).shape;
    const int axis = shape.rank() - 1;
    shape[axis] = editor_.value(node_.outputs[0]).shape[axis];
    const std::string name = fresh("band");
    const ValueId result = editor_.add_value(name, ElementType::kI8, shape);
    const NodeId joined = editor_.insert(name, "Concat", parts, {result});
    editor_.mutable_node(joined).attributes = {{"axis", int64_t(axis)}};
    return result;
  }

  // One row and one column; -1: all of them.
  ValueId piece(int64_t row, int64_t column) {
    const Shape from = editor_.value(node_.input(0)).shape;
    Shape shape = from;
    std::vector<int64_t> begin, end, axes;
    const auto take = [&](int axis, int64_t at) {
      if (at < 0) return;
      begin.push_back(at);
      end.push_back(at + 1);
      axes.push_back(axis);
      shape[axis] = 1;
    };
    if (from.rank() == 4) take(2, row);
    take(from.rank() - 1, column);
    const std::string name = fresh("piece");
    const ValueId result = editor_.add_value(name, ElementType::kI8, shape);
    editor_.insert(name, "Slice",
                   {node_.input(0), add_integers(editor_, name + "_starts", begin),
                    add_integers(editor_, name + "_ends", end), add_integers(editor_, name + "_axes", axes)},
                   {result});
    return result;
  }

  std::string fresh(const char* what) { return fmt::format("{}_{}{}", node_.name, what, ++count_); }

  GraphEditor& editor_;
  const NodeId id_;
  const Node node_;
  Border columns_;
  int count_ = 0;
};

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
    } else if (node.is("Pad")) {
      BorderPad(editor, id).run();
    }
  }
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    const Node& node = editor.node(id);
    if (editor.is_dead(id) || !node.is("Concat") || !is_i8(editor, node.outputs[0])) continue;
    const int rank = editor.value(node.outputs[0]).shape.rank();
    const int64_t given = node.int_or("axis", 0), axis = given < 0 ? given + rank : given;
    if (rank < 2 || rank > 4 || axis < 1) continue;
    const auto reshaped = [&](ValueId part) { return is_reshaped(editor, part); };
    if (rank > 2 && std::all_of(node.inputs.begin(), node.inputs.end(), reshaped)) continue;  // the host's
    copy_shared_parts(editor, id, axis > 1, taken);
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
