// From each Softmax one walk forwards to the product with v, one back to the product of q and k. Whatever two
// computed matrices are multiplied, soften to probabilities and weight a third: that is attention, so the
// order of axes need not be understood.
#include "tilewright/transform/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

constexpr int kMostSteps = 16;          // between the parts of one attention
constexpr size_t kMostMaskNodes = 500;  // that a mask is computed by
constexpr double kLargeNegative = -1e3;

class AttentionSearch {
 public:
  explicit AttentionSearch(const Graph& graph)
      : graph_(graph), producers_(graph.producers()), readers_(graph.consumers()) {}

  // nullopt where the result of the Softmax weights nothing.
  std::optional<Attention> at(NodeId softmax) {
    found_ = {};
    found_.softmax = softmax;
    const Node& node = graph_.nodes[size_t(softmax)];
    found_.product = product_of(node.outputs[0], 0);
    if (found_.product == kNoNode) return std::nullopt;
    const Node& product = graph_.nodes[size_t(found_.product)];
    found_.v = source(product.input(1), nullptr);
    const Shape& probabilities = shape(node.outputs[0]);
    const int64_t given = node.int_or("axis", -1), axis = given < 0 ? given + probabilities.rank() : given;
    if (axis != probabilities.rank() - 1) {
      found_.reason =
          fmt::format("its Softmax is along axis {} of {}, not the last", axis, probabilities.rank());
      return found_;
    }
    if (follow_scores(node.input(0), 0)) {
      take_product();
      check_mask();
    }
    return found_;
  }

 private:
  const Shape& shape(ValueId id) const { return graph_.value(id).shape; }

  const Node* producer(ValueId id) const {
    const NodeId node = id == kNoValue ? kNoNode : producers_[size_t(id)];
    return node == kNoNode ? nullptr : &graph_.nodes[size_t(node)];
  }

  std::optional<double> number(ValueId id) const {
    if (!graph_.is_constant(id)) return std::nullopt;
    const Tensor& tensor = *graph_.value(id).constant;
    return tensor.size() == 1 ? std::optional(tensor.number_at(0)) : std::nullopt;
  }

  static bool is_view(const Node& node) {
    const OperatorClass kind = operator_class(node);
    return kind == OperatorClass::kReshape || kind == OperatorClass::kCopy || node.is("Cast");
  }

  // Between matrices in the last two axes.
  bool keeps_matrices(const Node& node) const {
    const Shape &from = shape(node.input(0)), &to = shape(node.outputs[0]);
    return is_view(node) && from.rank() >= 2 && to.rank() >= 2 &&
           from[from.rank() - 1] == to[to.rank() - 1] && from[from.rank() - 2] == to[to.rank() - 2];
  }

  bool multiplies_computed(const Node& node) const {
    return (node.is("MatMul") || node.is("Gemm")) && !graph_.is_constant(node.input(0)) &&
           !graph_.is_constant(node.input(1));
  }

  // The product that has `value` as its left factor.
  NodeId product_of(ValueId value, int depth) const {
    if (depth > kMostSteps) return kNoNode;
    for (const NodeId id : readers_[size_t(value)]) {
      const Node& node = graph_.nodes[size_t(id)];
      if (multiplies_computed(node) && node.input(0) == value && node.int_or("transA", 0) == 0) return id;
      if (!is_view(node) || !keeps_matrices(node)) continue;
      const NodeId further = product_of(node.outputs[0], depth + 1);
      if (further != kNoNode) return further;
    }
    return kNoNode;
  }

  // Multiplies `scale` by a factor that is one number; nullopt where `node` is no such product.
  std::optional<ValueId> scaled(const Node& node, double& scale) const {
    if (node.is("Div")) {
      const auto divisor = number(node.input(1));
      if (!divisor || *divisor == 0) return std::nullopt;
      scale /= *divisor;
      return node.input(0);
    }
    if (!node.is("Mul")) return std::nullopt;
    for (const int k : {0, 1}) {
      const auto factor = number(node.input(1 - k));
      if (!factor) continue;
      scale *= *factor;
      return node.input(k);
    }
    return std::nullopt;
  }

  // Back over what moves elements or, where `scale` is given, multiplies them by one number.
  ValueId source(ValueId value, double* scale) const {
    for (int step = 0; step < kMostSteps; ++step) {
      const Node* node = producer(value);
      if (node == nullptr) break;
      if (is_view(*node) || node->is("Transpose")) {
        value = node->input(0);
        continue;
      }
      const auto input = scale == nullptr ? std::nullopt : scaled(*node, *scale);
      if (!input) break;
      value = *input;
    }
    return value;
  }

  bool stop(const std::string& reason) {
    if (found_.reason.empty()) found_.reason = reason;
    return false;
  }

  // Back from the Softmax to the product of q and k. On failure `reason` says where it ended.
  bool follow_scores(ValueId value, int depth) {
    const Node* node = producer(value);
    if (node == nullptr || depth > kMostSteps) {
      return stop(fmt::format("its scores are '{}', which no product computes", graph_.value(value).name));
    }
    if (multiplies_computed(*node)) {
      found_.scores = producers_[size_t(value)];
      return true;
    }
    if (keeps_matrices(*node)) return follow_scores(node->input(0), depth + 1);
    if (const auto input = scaled(*node, found_.scale)) return follow_scores(*input, depth + 1);
    if (node->is("Add") || node->is("Sub")) return follow_sum(*node, depth);
    if (node->is("Where")) return follow_choice(*node, depth);
    if (node->is("Mul") || node->is("Div"))
      return stop(fmt::format("its scores are scaled by more than one number in {}", where(*node)));
    return stop(fmt::format("its scores come from {} ({})", where(*node), node->op));
  }

  // A mask is what is added to the operand that leads to the product.
  bool follow_sum(const Node& node, int depth) {
    const Attention before = found_;
    std::string reason;
    for (const int k : {0, 1}) {
      if (k == 1 && node.is("Sub")) break;
      if (graph_.is_constant(node.input(k))) continue;
      found_ = before;
      if (follow_scores(node.input(k), depth + 1)) {
        set_mask(before, AttentionMask::kAdded, node.input(1 - k));
        return true;
      }
      if (reason.empty()) reason = found_.reason;
    }
    found_ = before;
    return stop(reason.empty() ? fmt::format("its scores come from {} ({})", where(node), node.op) : reason);
  }

  bool is_large_negative(ValueId id) const {
    if (!graph_.is_constant(id)) return false;
    const Tensor& tensor = *graph_.value(id).constant;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (!(tensor.number_at(i) <= kLargeNegative)) return false;
    }
    return tensor.size() > 0;
  }

  bool follow_choice(const Node& node, int depth) {
    const Attention before = found_;
    for (const int k : {1, 2}) {
      if (!is_large_negative(node.input(3 - k))) continue;
      if (!follow_scores(node.input(k), depth + 1)) return false;
      set_mask(before, AttentionMask::kSelected, node.input(0));
      return true;
    }
    return stop(fmt::format("{} chooses between scores and no large negative number", where(node)));
  }

  // The mask next to the Softmax stays; `before` is what was known nearer to it.
  void set_mask(const Attention& before, AttentionMask kind, ValueId mask) {
    found_.mask_kind = before.mask_kind == AttentionMask::kNone ? kind : before.mask_kind;
    found_.mask = before.mask_kind == AttentionMask::kNone ? mask : before.mask;
  }

  void take_product() {
    const Node& node = graph_.nodes[size_t(found_.scores)];
    if (node.is("Gemm")) {
      found_.scale *= double(node.float_or("alpha", 1));
      if (node.int_or("transA", 0) != 0) {
        stop(fmt::format("{} reads its queries transposed", where(node)));
        return;
      }
    }
    const Shape &left = shape(node.input(0)), &result = shape(node.outputs[0]);
    const int rank = result.rank();
    found_.q = source(node.input(0), &found_.scale);
    found_.k = source(node.input(1), &found_.scale);
    if (rank < 2 || left.rank() < 2) {
      stop(fmt::format("{} multiplies vectors", where(node)));
      return;
    }
    found_.queries = result[rank - 2];
    found_.keys = result[rank - 1];
    found_.width = left[left.rank() - 1];
    if (rank > 3) {
      found_.heads = result.count(1, rank - 2);
    } else if (rank == 3) {  // batch and heads in one axis
      const Shape& whole = shape(found_.q);
      const int64_t across = whole.rank() == 0 ? 0 : whole[whole.rank() - 1];
      const int64_t parts = found_.width == 0 || across % found_.width != 0 ? 0 : across / found_.width;
      found_.heads = parts > 0 && result[0] % parts == 0 ? parts : result[0];
    }
  }

  // Masks come from inputs and constants; one that a layer computes is part of the network.
  void check_mask() {
    if (found_.mask == kNoValue) return;
    std::vector<ValueId> open{found_.mask};
    std::set<ValueId> seen(open.begin(), open.end());
    while (!open.empty() && seen.size() < kMostMaskNodes) {
      const Node* node = producer(open.back());
      open.pop_back();
      if (node == nullptr) continue;
      if (operator_class(*node) == OperatorClass::kProduct) {
        stop(fmt::format("its mask depends on {} ({})", where(*node), node->op));
        return;
      }
      for (const ValueId input : node->inputs) {
        if (input != kNoValue && seen.insert(input).second) open.push_back(input);
      }
    }
  }

  const Graph& graph_;
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> readers_;
  Attention found_;
};

}  // namespace

std::vector<Attention> find_attention(const Graph& graph) {
  AttentionSearch search(graph);
  std::vector<Attention> all;
  for (NodeId id = 0; id < NodeId(graph.nodes.size()); ++id) {
    if (!graph.nodes[size_t(id)].is("Softmax")) continue;
    if (auto attention = search.at(id)) all.push_back(std::move(*attention));
  }
  return all;
}

}  // namespace tilewright
