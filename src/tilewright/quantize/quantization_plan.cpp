// One pass in graph order: an operator extends over the bias addition and the activations that follow, and
// its inputs are traced back through data movement to the value to quantise. A part that only feeds one
// Concat shares the group of its result (union-find); other parts get a scale order.
#include "tilewright/quantize/quantization_plan.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "tilewright/base/words/nearest_word.h"
#include "tilewright/graph/channel_affine.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/quantize/integerize/element_function.h"
#include "tilewright/quantize/integerize/integer_builder.h"
#include "tilewright/quantize/integerize/linear_resize.h"
#include "tilewright/quantize/integerize/lower_operators.h"

namespace tilewright {
namespace {

bool has_constant_weights(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant_input(node, 1);
  return weights && weights->type() == ElementType::kF32;
}

bool is_weighted(const Graph& graph, const Node& node) {
  if (!has_constant_weights(graph, node)) return false;
  const int rank = graph.constant_input(node, 1)->shape().rank();
  if (node.is("Conv") || node.is("ConvTranspose")) {
    return (rank == 3 || rank == 4) && (!node.has_input(2) || graph.is_constant(node.input(2)));
  }
  if (node.is("Gemm")) return rank == 2 && (!node.has_input(2) || graph.is_constant(node.input(2)));
  return node.is("MatMul") && rank == 2;
}

bool adds_two_maps(const Graph& graph, const Node& node) {
  if (!node.is("Add") && !node.is("Sub") && !(node.is("Sum") && node.inputs.size() == 2)) return false;
  if (graph.is_constant(node.input(0)) || graph.is_constant(node.input(1))) return false;
  return graph.value(node.input(0)).shape == graph.value(node.input(1)).shape;
}

bool multiplies_two_maps(const Graph& graph, const Node& node) {
  return node.is("Mul") && !graph.is_constant(node.input(0)) && !graph.is_constant(node.input(1));
}

// BatchNormalization, constants per channel that no layer has taken, slopes per channel.
bool scales_channels(const Graph& graph, const Node& node) {
  const int rank = graph.value(node.outputs[0]).shape.rank();
  if (rank != 3 && rank != 4) return false;
  if (prelu_slopes(graph, node)) return true;
  const auto affine = as_channel_affine(graph, node);
  return affine && !graph.is_constant(affine->input);
}

bool averages_maps(const Graph& graph, const Node& node) {
  if (linear_resize(graph, node, nullptr)) return true;  // weighted averages of neighbours
  const int rank = graph.value(node.input(0)).shape.rank();
  if (rank != 3 && rank != 4) return false;
  if (node.is("GlobalAveragePool")) return true;
  if (node.is("ReduceMean")) {
    std::vector<int64_t> axes = node.ints_or("axes", {});
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::sort(axes.begin(), axes.end());
    return axes == (rank == 3 ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 3});
  }
  if (!node.is("AveragePool")) return false;
  const std::vector<int64_t> pads = node.ints_or("pads", {});
  const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; }) ||
                      node.string_or("auto_pad", "NOTSET") == "SAME_UPPER" ||
                      node.string_or("auto_pad", "NOTSET") == "SAME_LOWER";
  return node.int_or("ceil_mode", 0) == 0 && (!padded || node.int_or("count_include_pad", 0) != 0);
}

// Softmax, norms and rotary embedding along the last axis, whose parameters are constants.
bool works_along_rows(const Graph& graph, const Node& node) {
  const bool norm = node.is("LayerNormalization") || node.is("RMSNormalization");
  if (!norm && !node.is("Softmax") && !node.is("RotaryEmbedding")) return false;
  const int64_t axis = node.int_or("axis", -1);
  const bool last = axis == -1 || axis == graph.value(node.input(0)).shape.rank() - 1;
  const auto constant = [&](int i) { return !node.has_input(i) || graph.is_constant(node.input(i)); };
  return last && !graph.is_constant(node.input(0)) && constant(1) && constant(2);
}

std::vector<bool> find_float_nodes(const Graph& graph, const std::vector<std::string>& names) {
  std::vector<bool> result(graph.nodes.size());
  Diagnostics problems;
  for (const std::string& name : names) {
    bool found = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (fnmatch(name.c_str(), graph.nodes[n].name.c_str(), 0) != 0) continue;
      result[n] = found = true;
    }
    if (found) continue;
    std::vector<std::string> known;
    for (const Node& node : graph.nodes) known.push_back(node.name);
    problems.error(ErrorKind::kInvalidInput, "nodes that stay in float", "",
                   fmt::format("no node of the simplified network is called '{}'", name),
                   fmt::format("{}`optimize` writes that network with its names; * stands for any characters",
                               did_you_mean(name, known)));
  }
  problems.raise_if_any();
  return result;
}

class Planner {
 public:
  Planner(const Graph& graph, std::vector<bool> stays_float)
      : graph_(graph),
        stays_float_(std::move(stays_float)),
        producers_(graph.producers()),
        readers_(graph.consumers()),
        wanted_(graph.values.size()),
        taken_(graph.nodes.size()) {}

  QuantizationPlan run() {
    for (NodeId id = 0; id < NodeId(graph_.nodes.size()); ++id) visit(id);
    for (const ValueId v : graph_.outputs) want_output(v);
    collect();
    return std::move(plan_);
  }

 private:
  static constexpr int kMostMoves = 64;  // between a result and what computes it

  const Node* producer(ValueId v) const {
    return producers_[size_t(v)] == kNoNode ? nullptr : &graph_.nodes[size_t(producers_[size_t(v)])];
  }
  bool stays_float(const Node& node) const { return stays_float_[size_t(&node - graph_.nodes.data())]; }
  // The only reader of `v`, where it may be taken together with what makes `v`, or nullptr.
  const Node* only_reader(ValueId v) const {
    if (readers_[size_t(v)].size() != 1 || graph_.is_output(v)) return nullptr;
    const Node& reader = graph_.nodes[size_t(readers_[size_t(v)][0])];
    return stays_float(reader) ? nullptr : &reader;
  }

  void visit(NodeId id) {
    const Node& node = graph_.nodes[size_t(id)];
    if (stays_float(node)) return;
    const bool weighted = is_weighted(graph_, node);
    const bool pair =
        (adds_two_maps(graph_, node) || multiplies_two_maps(graph_, node)) && !function_base(node.outputs[0]);
    const bool product = multiplies_computed(graph_, node);
    const bool affine = !taken_[size_t(id)] && !product && !weighted && !pair &&
                        !function_base(node.outputs[0]) && scales_channels(graph_, node);
    if (!weighted && !pair && !affine && !product && !averages_maps(graph_, node)) return;
    if (graph_.value(node.outputs[0]).type != ElementType::kF32) return;
    WeightedOperator op{id, kNoValue, node.outputs[0], kNoNode};
    if (weighted) {
      const Node* next = only_reader(op.output);
      if (next && adds_constant(*next, op.output, node)) {
        op.bias_addition = NodeId(next - graph_.nodes.data());
        taken_[size_t(op.bias_addition)] = true;
        op.output = next->outputs[0];
      }
    }
    if (product) {
      const Node* next = only_reader(op.output);
      if (next && product_times_number(graph_, producers_, *next)) {
        taken_[size_t(next - graph_.nodes.data())] = true;
        op.output = next->outputs[0];
      }
    }
    for (const Node* next = only_reader(op.output); next && clip_interval(graph_, *next);
         next = only_reader(op.output)) {
      if (next->input(0) != op.output) break;
      op.output = next->outputs[0];
    }
    const bool by_constants = affine && !node.is("PRelu");
    op.input = want(by_constants ? as_channel_affine(graph_, node)->input : node.input(0));
    const ValueId second = pair || product ? want(node.input(1)) : kNoValue;
    if (product) {
      narrow_.insert(narrow_.end(), {op.input, second});
      zero_.push_back(second);
    }
    wanted_[size_t(op.output)] = true;
    if (weighted) plan_.weighted.push_back(op);
    if (node.is("ConvTranspose")) zero_.push_back(op.input);
  }

  // An Add of one constant number per output channel, which becomes bias.
  bool adds_constant(const Node& next, ValueId v, const Node& node) const {
    if (!next.is("Add") || graph_.value(next.outputs[0]).shape != graph_.value(v).shape) return false;
    const ValueId other = next.input(0) == v ? next.input(1) : next.input(0);
    if (!graph_.is_constant(other)) return false;
    const Shape& shape = graph_.value(other).shape;
    const Shape& y = graph_.value(v).shape;
    const int axis = node.is("Gemm") || node.is("MatMul") ? y.rank() - 1 : 1;
    for (int a = 0; a < shape.rank(); ++a) {
      if (shape[a] != 1 && a + y.rank() - shape.rank() != axis) return false;
    }
    return true;
  }

  // The value that must be quantised for `v` to have an integer form.
  ValueId want(ValueId v) {
    for (const Node* node = producer(v); node && !stays_float(*node); node = producer(v)) {
      if (node->is("Concat")) {
        if (!wanted_[size_t(v)]) {
          wanted_[size_t(v)] = true;
          for (ValueId part : node->inputs) concatenated_.push_back({want(part), v});
        }
        return v;
      }
      // Zero is representable in any range. Where the constant is not even an 8-bit integer, the padded value
      // is quantised itself, so that its range includes the constant.
      const bool pads = node->is("Pad") && node->string_or("mode", "constant") == "constant";
      if (pads && !pads_representably(graph_, *node, {1, 0}, ElementType::kI8)) break;
      if (!only_moves_data(graph_, *node) || graph_.is_constant(node->input(0))) break;
      if (wanted_[size_t(v)]) break;
      v = node->input(0);
    }
    // A function of another value becomes a table over that value's integers.
    const std::optional<ValueId> base = wanted_[size_t(v)] ? std::nullopt : function_base(v);
    const bool is_new = !wanted_[size_t(v)];
    wanted_[size_t(v)] = true;
    if (base) want(*base);
    // Probabilities that nobody but the user reads stay in float.
    const Node* node = producer(v);
    if (is_new && node && !stays_float(*node) && works_along_rows(graph_, *node)) {
      const auto causal = causal_scores(graph_, producers_, *node);
      const bool masked = causal && !stays_float(*producer(node->input(0)));
      const ValueId source = want(masked ? causal->scores : node->input(0));
      if (node->is("Softmax") || node->is("RotaryEmbedding")) narrow_.push_back(source);
    }
    return v;
  }

  // Results that are functions of quantised values, moved or put together: a table is cheaper than the
  // function. Parts of a Concat keep scales of their own (boxes and scores differ), so it stays in float.
  void want_output(ValueId v, int depth = 0) {
    const Node* node = producer(v);
    if (!node || depth > kMostMoves || wanted_[size_t(v)] || graph_.value(v).type != ElementType::kF32 ||
        stays_float(*node))
      return;
    if (node->is("Concat")) {
      for (const ValueId part : node->inputs) want_output(part, depth + 1);
    } else if (only_moves_data(graph_, *node)) {
      want_output(node->input(0), depth + 1);
    } else if (const auto base = function_base(v); base && wanted_[size_t(*base)]) {
      want(v);
    }
  }

  // The value that `v` is a function of, where that is more than a clip. It is quantised already, or made by
  // an operator that does not work element by element.
  std::optional<ValueId> function_base(ValueId v) const {
    const Node* node = producer(v);
    if (!node || stays_float(*node) || clip_interval(graph_, *node)) return std::nullopt;
    const auto is_base = [&](ValueId candidate) {
      const Node* maker = producer(candidate);
      if (!maker || stays_float(*maker) || (wanted_[size_t(candidate)] && candidate != v)) return true;
      const OperatorClass kind = operator_class(*maker);
      return kind != OperatorClass::kElementwise && kind != OperatorClass::kBroadcast &&
             kind != OperatorClass::kCopy;
    };
    const auto number = [&](ValueId constant) { return constant_number(graph_, constant); };
    const auto function = function_of_one(graph_, producers_, v, is_base, number);
    return function ? std::optional(function->base) : std::nullopt;
  }

  // Whether every reader of `v` only carries it to the Concat that makes `joined`.
  bool only_feeds(ValueId v, ValueId joined, int depth = 0) const {
    if (graph_.is_output(v) || depth > 64) return false;
    return std::all_of(readers_[size_t(v)].begin(), readers_[size_t(v)].end(), [&](NodeId id) {
      const Node& node = graph_.nodes[size_t(id)];
      if (node.is("Concat")) return node.outputs[0] == joined;
      return only_moves_data(graph_, node) && node.outputs.size() == 1 &&
             only_feeds(node.outputs[0], joined, depth + 1);
    });
  }

  void collect() {
    std::map<ValueId, ValueId> leader;  // union-find over quantised values
    const auto find = [&](ValueId v) {
      while (leader[v] != v) v = leader[v];
      return v;
    };
    std::vector<bool> emitted(graph_.values.size(), false);
    const auto emit = [&](ValueId v) {
      if (v == kNoValue || !wanted_[size_t(v)] || emitted[size_t(v)]) return;
      emitted[size_t(v)] = true;
      leader[v] = v;
      plan_.values.push_back(v);
    };
    for (ValueId v : graph_.inputs) emit(v);
    for (const Node& node : graph_.nodes) {
      for (ValueId v : node.outputs) emit(v);
    }
    for (const ScaleOrder& order : concatenated_) {
      if (order.from != order.to && only_feeds(order.from, order.to)) {
        leader[find(order.from)] = find(order.to);
      } else {
        plan_.orders.push_back(order);
      }
    }
    // An activation that could not be fused rescales the value that it reads.
    for (ValueId v : plan_.values) {
      const Node* node = producer(v);
      if (!node || !clip_interval(graph_, *node)) continue;
      if (emitted[size_t(node->input(0))]) plan_.orders.push_back({node->input(0), v});
    }
    std::map<ValueId, int> numbers;
    for (ValueId v : plan_.values) {
      plan_.group.push_back(numbers.try_emplace(find(v), int(numbers.size())).first->second);
    }
    plan_.zero_point_zero.assign(numbers.size(), false);
    plan_.narrow.assign(numbers.size(), false);
    for (ValueId v : narrow_) plan_.narrow[size_t(plan_.group_of(v))] = true;
    for (ValueId v : zero_) plan_.zero_point_zero[size_t(plan_.group_of(v))] = true;
  }

  const Graph& graph_;
  const std::vector<bool> stays_float_;  // by node
  std::vector<NodeId> producers_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> wanted_;
  std::vector<bool> taken_;  // nodes that a layer before them computes
  std::vector<ScaleOrder> concatenated_;
  std::vector<ValueId> zero_, narrow_;
  QuantizationPlan plan_;
};

}  // namespace

int QuantizationPlan::group_of(ValueId value) const {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? -1 : group[size_t(found - values.begin())];
}

QuantizationPlan plan_quantization(const Graph& graph, const std::vector<std::string>& float_nodes) {
  return Planner(graph, find_float_nodes(graph, float_nodes)).run();
}

}  // namespace tilewright
