// From each output back to the DequantizeLinear nodes it comes from, as long as the nodes between only move
// numbers: then these nodes can move the integers, and nothing is left to dequantise.
#include "tilewright/quantize/integer_borders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/graph/operator_class.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {
namespace {

class IntegerBorders {
 public:
  explicit IntegerBorders(Graph graph)
      : graph_(std::move(graph)),
        readers_(graph_.consumers()),
        producers_(graph_.producers()),
        gone_(graph_.nodes.size(), false) {}

  Graph run(std::vector<IntegerBorder>& borders) {
    for (ValueId& input : graph_.inputs) make_input(input, borders);
    for (ValueId& output : graph_.outputs) make_output(output, borders);
    graph_.erase_nodes(gone_);
    graph_.remove_dead();
    return std::move(graph_);
  }

 private:
  // The integers that real numbers are: in parts along `axis`, or all alike (-1, one part).
  struct Part {
    int64_t size;
    Quantization numbers;
  };
  struct Integers {
    ElementType type;
    int64_t axis = -1;
    std::vector<Part> parts;
  };

  // `border` becomes `integers`, under its name.
  void replace(ValueId& border, ValueId integers) {
    std::swap(graph_.value(border).name, graph_.value(integers).name);
    border = integers;
  }

  void make_input(ValueId& input, std::vector<IntegerBorder>& borders) {
    if (readers_[size_t(input)].size() != 1 || graph_.is_output(input)) return;
    const NodeId reader = readers_[size_t(input)][0];
    const Node& node = graph_.nodes[size_t(reader)];
    if (!node.is("QuantizeLinear") || node.input(0) != input) return;
    gone_[size_t(reader)] = true;
    const auto q = constant_quantization(graph_, node.input(1), node.input(2));
    replace(input, node.outputs[0]);
    if (q) borders.push_back({graph_.value(input).name, double(q->scale), q->zero_point});
  }

  void make_output(ValueId& output, std::vector<IntegerBorder>& borders) {
    if (!readers_[size_t(output)].empty() || producers_[size_t(output)] == kNoNode) return;
    const Node& last = graph_.nodes[size_t(producers_[size_t(output)])];
    const std::optional<Integers> integers = integers_of(output);
    if (last.is("DequantizeLinear")) {
      if (graph_.is_constant(last.input(0)) || graph_.is_output(last.input(0))) return;
      replace(output, last.input(0));
    } else {
      if (!integers) return;
      become_integers(output, integers->type);
    }
    if (integers) tell(graph_.value(output).name, *integers, borders);
  }

  static void tell(const std::string& name, const Integers& integers, std::vector<IntegerBorder>& borders) {
    int64_t begin = 0;
    for (const Part& part : integers.parts) {
      borders.push_back({name, double(part.numbers.scale), part.numbers.zero_point, integers.axis, begin,
                         begin + part.size});
      begin += part.size;
    }
  }

  // Nullopt: not all of them are made by a DequantizeLinear and movement that nothing else reads.
  std::optional<Integers> integers_of(ValueId v) const {
    const NodeId producer = producers_[size_t(v)];
    if (producer == kNoNode) return std::nullopt;
    const Node& node = graph_.nodes[size_t(producer)];
    if (node.is("DequantizeLinear")) {
      const auto q = constant_quantization(graph_, node.input(1), node.input(2));
      if (!q || graph_.is_constant(node.input(0)) || graph_.is_output(node.input(0))) return std::nullopt;
      return Integers{graph_.value(node.input(0)).type, -1, {{0, *q}}};
    }
    if (node.outputs.size() != 1 || graph_.value(v).type != ElementType::kF32) return std::nullopt;
    if (node.is("Concat")) return joined(node);
    if (!only_moves_data(graph_, node) || node.is("Pad")) return std::nullopt;
    return moved(node);
  }

  bool read_once(ValueId v) const {
    return !graph_.is_constant(v) && !graph_.is_output(v) && readers_[size_t(v)].size() == 1;
  }

  std::optional<Integers> moved(const Node& node) const {
    if (!read_once(node.input(0))) return std::nullopt;
    std::optional<Integers> integers = integers_of(node.input(0));
    if (!integers || integers->axis < 0) return integers;
    if (!node.is("Transpose")) return std::nullopt;  // the parts may lie anywhere
    const int64_t rank = int64_t(graph_.value(node.input(0)).shape.rank());
    std::vector<int64_t> order = node.ints_or("perm", {});
    for (int64_t axis = rank; order.empty() && axis-- > 0;) order.push_back(axis);
    integers->axis = std::find(order.begin(), order.end(), integers->axis) - order.begin();
    return integers;
  }

  std::optional<Integers> joined(const Node& node) const {
    const int64_t rank = int64_t(graph_.value(node.outputs[0]).shape.rank()), given = node.int_or("axis", 0),
                  axis = given < 0 ? given + rank : given;
    Integers all{ElementType::kI8, axis, {}};
    for (const ValueId v : node.inputs) {
      if (!read_once(v)) return std::nullopt;
      std::optional<Integers> part = integers_of(v);
      if (!part || (part->axis >= 0 && part->axis != axis)) return std::nullopt;
      if (!all.parts.empty() && part->type != all.type) return std::nullopt;
      all.type = part->type;
      if (part->axis < 0) part->parts[0].size = graph_.value(v).shape[size_t(axis)];
      all.parts.insert(all.parts.end(), part->parts.begin(), part->parts.end());
    }
    const Part& first = all.parts.front();
    if (std::all_of(all.parts.begin(), all.parts.end(),
                    [&](const Part& part) { return part.numbers == first.numbers; })) {
      return Integers{all.type, -1, {{0, first.numbers}}};
    }
    return all;
  }

  // What makes `v` moves integers instead.
  void become_integers(ValueId v, ElementType type) {
    graph_.value(v).type = type;
    Node& node = graph_.nodes[size_t(producers_[size_t(v)])];
    const size_t moved_inputs =
        node.is("Concat") ? node.inputs.size() : 1;  // the others are numbers of places
    for (size_t i = 0; i < moved_inputs; ++i) {
      const Node& before = graph_.nodes[size_t(producers_[size_t(node.inputs[i])])];
      if (before.is("DequantizeLinear")) {
        node.inputs[i] = before.input(0);
      } else {
        become_integers(node.inputs[i], type);
      }
    }
  }

  Graph graph_;
  const std::vector<std::vector<NodeId>> readers_;
  const std::vector<NodeId> producers_;
  std::vector<bool> gone_;
};

}  // namespace

std::string to_string(const IntegerBorder& border) {
  const std::string where =
      border.axis < 0 ? ""
                      : fmt::format(" at {} to {} of axis {}", border.begin, border.end - 1, border.axis);
  return fmt::format("'{}'{} is 8-bit integers: {:.9g} * (q - {})", border.name, where, border.scale,
                     border.zero_point);
}

Graph with_integer_borders(Graph graph, std::vector<IntegerBorder>* borders) {
  std::vector<IntegerBorder> ignored;
  return IntegerBorders(std::move(graph)).run(borders ? *borders : ignored);
}

}  // namespace tilewright
