// Walks from the value towards its producers until a node bounds it.
#include "tilewright/graph/value_range.h"

#include <algorithm>
#include <optional>

#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

constexpr int kMostSteps = 200;  // towards the inputs; beyond, the type decides

const Node* producer_of(const Graph& graph, ValueId value) {
  for (const Node& node : graph.nodes) {
    if (std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end()) return &node;
  }
  return nullptr;
}

ValueRange range_of_constant(const Tensor& tensor) {
  const std::vector<int64_t> values = tensor.to_integers();
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool signs = std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1 || v == -1; });
  return {*low, *high, signs};
}

// A bound of Clip, `absent` where there is none; nullopt where it is computed.
std::optional<int64_t> bound(const Graph& graph, const Node& node, int index, int64_t absent) {
  if (!node.has_input(index)) return absent;
  const Tensor* tensor = graph.constant_input(node, index);
  if (tensor == nullptr || tensor->size() != 1 || !is_integer(tensor->type())) return {};
  return tensor->integer_at(0);
}

ValueRange join(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.bipolar && b.bipolar};
}

ValueRange walk(const Graph& graph, ValueId value, int steps) {
  const Value& v = graph.value(value);
  const ValueRange type{lowest(v.type), highest(v.type), v.type == ElementType::kBipolar};
  if (v.constant) return is_integer(v.type) ? range_of_constant(*v.constant) : type;
  const Node* node = steps > 0 ? producer_of(graph, value) : nullptr;
  if (node == nullptr) return type;
  if (has_output_stage(*node) && operator_traits(*node).numbers == OperatorNumbers::kInteger) {
    if (node->int_or("bipolar", 0) != 0) return {-1, 1, true};
    if (const Tensor* table = graph.constant_input(*node, table_input(*node)))
      return range_of_constant(*table);
    return {std::max(type.low, node->int_or("clip_low", type.low)),
            std::min(type.high, node->int_or("clip_high", type.high)), false};
  }
  if (node->is_tilewright("QLookup") && graph.constant_input(*node, 1) != nullptr) {
    return range_of_constant(*graph.constant_input(*node, 1));
  }
  if (only_selects(*node)) return walk(graph, node->input(0), steps - 1);
  if (node->is("Clip")) {
    const auto low = bound(graph, *node, 1, type.low), high = bound(graph, *node, 2, type.high);
    if (!low || !high) return type;
    const ValueRange from = walk(graph, node->input(0), steps - 1);
    // Not std::clamp: of crossed bounds the upper one wins.
    const auto clipped = [&](int64_t end) { return std::min(std::max(end, *low), *high); };
    const ValueRange to{clipped(from.low), clipped(from.high), false};
    return to.low == from.low && to.high == from.high ? from : to;
  }
  if (node->is("Concat")) {
    ValueRange all = walk(graph, node->input(0), steps - 1);
    for (size_t i = 1; i < node->inputs.size(); ++i) {
      all = join(all, walk(graph, node->inputs[i], steps - int(node->inputs.size())));
    }
    return all;
  }
  return type;
}

}  // namespace

ValueRange value_range(const Graph& graph, ValueId value) { return walk(graph, value, kMostSteps); }

}  // namespace tilewright
