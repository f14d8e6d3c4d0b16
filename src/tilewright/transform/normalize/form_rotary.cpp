// The search starts at the last node, a Concat or an Add, and goes back to the value whose halves are turned.
// Tables become [tokens, half]; equal ones are shared by all nodes.
#include "tilewright/transform/normalize/form_rotary.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/graph/slices.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/strided_copy.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

// Half 0 or 1 of the last axis of `of`.
struct Half {
  ValueId of = kNoValue;
  int index = 0;
};

// A product of a value and a constant.
struct TableProduct {
  ValueId value = kNoValue, table = kNoValue;
};

class RotarySearch {
 public:
  RotarySearch(const GraphEditor& editor, NodeId last) : editor_(editor), last_(last) {}

  bool find() {
    const bool found = editor_.node(last_).is("Concat") ? find_points() : find_rotated_half();
    return found && is_closed();
  }

  ValueId x() const { return x_; }
  const Tensor& cosines() const { return *cosines_; }
  const Tensor& sines() const { return *sines_; }
  // All but the last, readers before what they read.
  const std::vector<NodeId>& inner() const { return inner_; }

 private:
  NodeId inner(ValueId value, const char* op) {
    const NodeId id = editor_.producer(value);
    if (id == kNoNode || !editor_.node(id).is(op)) return kNoNode;
    inner_.push_back(id);
    return id;
  }

  bool ends_last_axis(ValueId value, const Node& node, int64_t axis) const {
    const int rank = editor_.value(value).shape.rank();
    return rank >= 2 && (axis == -1 || axis == rank - 1) && node.outputs.size() >= 1;
  }

  std::optional<Half> half(ValueId value) const {
    const NodeId id = editor_.producer(value);
    if (id == kNoNode) return std::nullopt;
    const Node& node = editor_.node(id);
    return node.is("Slice")   ? half_of_slice(node)
           : node.is("Split") ? half_of_split(node, value)
                              : std::nullopt;
  }

  std::optional<Half> half_of_slice(const Node& node) const {
    const Shape& shape = editor_.value(node.input(0)).shape;
    std::vector<int64_t> lists[4];  // starts, ends, axes, steps
    for (int i = 1; i < int(node.inputs.size()); ++i) {
      const Tensor* list = editor_.graph().constant_input(node, i);
      if (list == nullptr && node.has_input(i)) return std::nullopt;
      if (list != nullptr) lists[i - 1] = list->to_integers();
    }
    const auto ranges = slice_ranges(node, shape, lists[0], lists[1], lists[2], lists[3]);
    const int last = shape.rank() - 1;
    for (int axis = 0; axis < last; ++axis)
      if (ranges[size_t(axis)] != SliceRange{0, 1, shape[axis]}) return std::nullopt;
    for (const int index : {0, 1}) {
      if (shape[last] % 2 == 0 &&
          ranges[size_t(last)] == SliceRange{index * shape[last] / 2, 1, shape[last] / 2})
        return Half{node.input(0), index};
    }
    return std::nullopt;
  }

  std::optional<Half> half_of_split(const Node& node, ValueId value) const {
    if (node.outputs.size() != 2 || !ends_last_axis(node.input(0), node, node.int_or("axis", 0)))
      return std::nullopt;
    if (node.outputs[0] == kNoValue || node.outputs[1] == kNoValue ||
        editor_.value(node.outputs[0]).shape != editor_.value(node.outputs[1]).shape)
      return std::nullopt;
    return Half{node.input(0), value == node.outputs[0] ? 0 : 1};
  }

  std::optional<TableProduct> product(ValueId value) {
    const NodeId id = inner(value, "Mul");
    if (id == kNoNode) return std::nullopt;
    const Node& node = editor_.node(id);
    for (const int k : {0, 1}) {
      if (editor_.graph().is_constant(node.input(1 - k)) && !editor_.graph().is_constant(node.input(k)))
        return TableProduct{node.input(k), node.input(1 - k)};
    }
    return std::nullopt;
  }

  // Both operands of an Add or Sub as products with constants.
  std::optional<std::pair<TableProduct, TableProduct>> products(NodeId id) {
    const auto first = product(editor_.node(id).input(0)), second = product(editor_.node(id).input(1));
    if (!first || !second) return std::nullopt;
    return std::pair{*first, *second};
  }

  // (a * cosine - b * sine, a * sine + b * cosine)
  bool find_points() {
    const Node& node = editor_.node(last_);
    if (node.inputs.size() != 2 || !ends_last_axis(node.input(0), node, node.int_or("axis", 0))) return false;
    const NodeId real = inner(node.input(0), "Sub"), imaginary = inner(node.input(1), "Add");
    if (real == kNoNode || imaginary == kNoNode) return false;
    const auto difference = products(real), sum = products(imaginary);
    if (!difference || !sum) return false;
    const auto [a_cosine, b_sine] = *difference;
    const auto a = half(a_cosine.value), b = half(b_sine.value);
    if (!a || !b || a->of != b->of || a->index != 0 || b->index != 1 || !is_turned(a->of)) return false;
    const auto first = half(sum->first.value);
    if (!first) return false;
    const auto [a_sine, b_cosine] = first->index == 0 ? *sum : std::pair{sum->second, sum->first};
    const auto a_again = half(a_sine.value), b_again = half(b_cosine.value);
    if (!a_again || !b_again || a_again->of != x_ || b_again->of != x_ || a_again->index != 0 ||
        b_again->index != 1)
      return false;
    cosines_ = table(a_cosine.table, half_);
    sines_ = table(b_sine.table, half_);
    return is_table(b_cosine.table, cosines_) && is_table(a_sine.table, sines_);
  }

  // x * cosine + (-b, a) * sine
  bool find_rotated_half() {
    const auto both = products(last_);
    if (!both) return false;
    for (const auto& [straight, across] : {*both, std::pair{both->second, both->first}}) {
      const NodeId joined = editor_.producer(across.value);
      if (joined == kNoNode || !editor_.node(joined).is("Concat")) continue;
      const Node& node = editor_.node(joined);
      if (node.inputs.size() != 2 || !ends_last_axis(node.input(0), node, node.int_or("axis", 0))) continue;
      inner_.push_back(joined);
      const NodeId negative = inner(node.input(0), "Neg");
      if (negative == kNoNode) return false;
      const auto b = half(editor_.node(negative).input(0)), a = half(node.input(1));
      if (!a || !b || a->of != straight.value || b->of != straight.value || a->index != 0 || b->index != 1 ||
          !is_turned(a->of))
        return false;
      cosines_ = half_table(straight.table);
      sines_ = half_table(across.table);
      return cosines_ && sines_;
    }
    return false;
  }

  bool is_turned(ValueId x) {
    x_ = x;
    const Value& value = editor_.value(x);
    const int rank = value.shape.rank();
    half_ = value.shape[rank - 1] / 2;
    return value.type == ElementType::kF32 && !value.constant && value.shape.element_count() > 0 &&
           editor_.value(editor_.node(last_).outputs[0]).shape == value.shape;
  }

  // A constant that differs along the last two axes alone, as [tokens, width].
  std::optional<Tensor> table(ValueId id, int64_t width) const {
    const Tensor& tensor = *editor_.value(id).constant;
    const Shape &given = tensor.shape(), &x = editor_.value(x_).shape;
    const int extra = std::max(given.rank() - 2, 0);
    const Shape own({given.begin() + extra, given.end()}), wanted{x[x.rank() - 2], width};
    const bool alike =
        std::all_of(given.begin(), given.begin() + extra, [](int64_t size) { return size == 1; });
    if (tensor.type() != ElementType::kF32 || !alike || !broadcasts_to(own, wanted)) return std::nullopt;
    return strided_copy(tensor.reshaped(own), wanted, broadcast_strides(wanted, own));
  }

  bool is_table(ValueId id, const std::optional<Tensor>& known) const {
    const auto other = table(id, half_);
    return known && other && known->identical(*other);
  }

  // The left half of a table of whole heads, if the right one equals it.
  std::optional<Tensor> half_table(ValueId id) const {
    const auto whole = table(id, 2 * half_);
    if (!whole) return std::nullopt;
    const Shape part{whole->shape()[0], half_};
    Tensor left = strided_copy(*whole, part, {2 * half_, 1}, 0);
    return left.identical(strided_copy(*whole, part, {2 * half_, 1}, half_)) ? std::optional(std::move(left))
                                                                             : std::nullopt;
  }

  // Nothing else reads what the nodes before the last write.
  bool is_closed() const {
    const auto is_inside = [&](NodeId id) {
      return id == last_ || std::ranges::find(inner_, id) != inner_.end();
    };
    return std::ranges::all_of(inner_, [&](NodeId id) {
      const ValueId value = editor_.node(id).outputs[0];
      return !editor_.graph().is_output(value) && std::ranges::all_of(editor_.readers(value), is_inside);
    });
  }

  const GraphEditor& editor_;
  const NodeId last_;
  ValueId x_ = kNoValue;
  int64_t half_ = 0;
  std::optional<Tensor> cosines_, sines_;
  std::vector<NodeId> inner_;
};

class RotaryForms {
 public:
  explicit RotaryForms(Graph graph) : editor_(std::move(graph)) {}

  Graph run() {
    for (NodeId id = 0; id < editor_.node_count(); ++id) {
      if (editor_.is_dead(id) || (!editor_.node(id).is("Concat") && !editor_.node(id).is("Add"))) continue;
      RotarySearch search(editor_, id);
      if (search.find()) form(id, search);
    }
    return std::move(editor_).finish();
  }

 private:
  void form(NodeId id, const RotarySearch& search) {
    const std::string name = editor_.node(id).name;
    const ValueId cosines = shared(name + "_cosines", search.cosines()),
                  sines = shared(name + "_sines", search.sines());
    for (const NodeId inner : search.inner()) {
      if (!editor_.is_dead(inner)) editor_.kill(inner);
    }
    Node& node = editor_.mutable_node(id);
    node.op = "RotaryEmbedding";
    node.attributes.clear();
    editor_.set_inputs(id, {search.x(), cosines, sines});
    drop_unread_halves(search.x());
  }

  void drop_unread_halves(ValueId x) {
    const std::vector<NodeId> readers = editor_.readers(x);
    for (const NodeId reader : readers) {
      const Node& node = editor_.node(reader);
      const bool read = std::ranges::any_of(
          node.outputs, [&](ValueId value) { return value != kNoValue && editor_.is_read(value); });
      if (!read && !editor_.is_dead(reader)) editor_.kill(reader);
    }
  }

  ValueId shared(const std::string& name, const Tensor& tensor) {
    for (const ValueId id : tables_)
      if (editor_.value(id).constant->identical(tensor)) return id;
    tables_.push_back(editor_.add_constant(name, tensor));
    return tables_.back();
  }

  GraphEditor editor_;
  std::vector<ValueId> tables_;
};

}  // namespace

Graph form_rotary(Graph graph) { return RotaryForms(std::move(graph)).run(); }

}  // namespace tilewright
