// One walk over the source in topological order. A DequantizeLinear gives its output an integer twin; a
// QuantizeLinear asks for an integer form of its input, which goes back through activations and data movement
// to the operator that computes; every operator is also copied in float, and dead code removal decides.
#include "tilewright/quantize/integerize/integerize.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/integerize/integer_builder.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/quantize/integerize/output_names.h"
#include "tilewright/quantize/integerize/signs.h"

namespace tilewright {
namespace {

// The bounds of an integer Clip that is the only reader of `value` (narrow activations in QuantizeLinear ->
// Clip -> DequantizeLinear form), as stored in the source.
std::optional<std::pair<int64_t, int64_t>> narrowed(const Graph& graph, ValueId value,
                                                    const std::vector<std::vector<NodeId>>& readers) {
  const std::vector<NodeId>& nodes = readers[size_t(value)];
  if (nodes.size() != 1 || graph.is_output(value) || !graph.nodes[size_t(nodes[0])].is("Clip"))
    return std::nullopt;
  const Node& node = graph.nodes[size_t(nodes[0])];
  const Tensor* low = graph.constant_input(node, 1);
  const Tensor* high = graph.constant_input(node, 2);
  if (!low || !high || low->size() != 1 || high->size() != 1) return std::nullopt;
  if (low->integer_at(0) > high->integer_at(0)) return std::nullopt;
  return std::pair{low->integer_at(0), high->integer_at(0)};
}

class Integerizer {
 public:
  explicit Integerizer(const Graph& source)
      : source_(source), builder_(source), readers_(source.consumers()), producers_(source.producers()) {}

  Graph run(IntegerizeReport* report) {
    for (const Node& node : source_.nodes) lower(node);
    for (ValueId old : source_.outputs) {
      builder_.graph().outputs.push_back(builder_.native(old));
    }
    name_outputs(builder_.graph(), source_);
    if (report) collect_meanings(*report);
    Graph graph = std::move(builder_.graph());
    graph.remove_dead();
    if (report) {
      fill(graph, *report);
      keep_living(graph, report->meanings);
    }
    return graph;
  }

 private:
  void lower(const Node& node) {
    if (node.is("QuantizeLinear") && lower_quantize(node)) return;
    if (node.is("DequantizeLinear") && lower_dequantize(node)) return;
    if (node.is("Where") && lower_sign(node)) return;
    if (node.domain.empty() && (node.op == "QLinearConv" || node.op == "QLinearMatMul")) {
      const auto out = node.op == "QLinearConv" ? lower_qlinear_convolution(builder_, node)
                                                : lower_qlinear_matmul(builder_, node);
      if (out) {
        const bool shifted = source_.value(node.outputs[0]).type == ElementType::kU8;
        builder_.set_stored_integers(node.outputs[0], {*out, {1, shifted ? -128 : 0}});
        return;
      }
    }
    const bool has_output = !node.outputs.empty() && node.outputs[0] != kNoValue;
    if (has_output && is_activation(source_.value(node.outputs[0]).type) && lower_stored(node)) return;
    if (has_output && lower_twins(node)) return;
    copy(node);
  }

  bool lower_quantize(const Node& node) {
    const auto q = constant_quantization(source_, node.input(1), node.input(2));
    const ValueId y = node.outputs[0];
    if (!q || !is_activation(source_.value(y).type)) return false;
    if (const Tensor* constant = source_.constant_input(node, 0)) {
      quantized_constants_[y] = quantize_constant(*constant, *q, source_.value(y).type);
      // Also as an activation, for operators that want one.
      copy(node);
      return true;
    }
    const int32_t shift = unsigned_shift(source_.value(y).type);
    IntegerForm form = full_form(signed_activation(source_.value(y).type), {q->scale, q->zero_point + shift},
                                 source_.value(y).name);
    form.is_unsigned = shift != 0;
    if (const auto range = narrowed(source_, y, readers_)) {
      form.low = std::max<int64_t>(form.low, range->first + shift);
      form.high = std::min<int64_t>(form.high, range->second + shift);
      if (form.low > form.high) return false;
    }
    const ValueId id = builder_.quantized_or_float(node.input(0), form, node);
    builder_.set_stored_integers(y, {id, {1, shift}, form.low, form.high});
    return true;
  }

  static Tensor quantize_constant(const Tensor& real, const Quantization& q, ElementType type) {
    Tensor integers(type, real.shape());
    for (int64_t i = 0; i < real.size(); ++i) {
      integers.set_integer(i, quantize_number(float(real.number_at(i)), q, lowest(type), highest(type)));
    }
    return integers;
  }

  bool lower_dequantize(const Node& node) {
    const ValueId x = node.input(0), y = node.outputs[0];
    const auto folded = quantized_constants_.find(x);
    if (source_.is_constant(x) || folded != quantized_constants_.end()) {
      const Tensor& integers = source_.is_constant(x) ? *source_.value(x).constant : folded->second;
      auto constant =
          constant_operand(source_, integers, node.input(1), node.input(2), node.int_or("axis", 1));
      if (constant) builder_.set_quantized_constant(y, std::move(*constant));
      copy(node);  // removed when every reader became integer
      return true;
    }
    const auto q = constant_quantization(source_, node.input(1), node.input(2));
    const Twin* stored = builder_.stored_integers(x);
    if (!q || !stored || source_.value(y).type != ElementType::kF32) return false;
    builder_.set_twin(
        y,
        {stored->id, {q->scale, q->zero_point + stored->quantization.zero_point}, stored->low, stored->high});
    return true;
  }

  // A sign is the threshold of the integer operator before it. Where there is none, it is taken in float and
  // made an integer by operators of the host.
  bool lower_sign(const Node& node) {
    const auto sign = sign_of(source_, producers_, node);
    if (!sign) return false;
    const Value y = source_.value(node.outputs[0]);
    IntegerForm form{{sign->scale, 0}, -1, 1, y.name + "_integer"};
    form.bipolar = true;
    std::optional<ValueId> id = builder_.quantized(sign->x, form);
    if (!id) {
      copy(node);
      const ValueId eight_bits = builder_.add_value(y.name + "_i8", ElementType::kI8, y.shape);
      builder_.add_border(y.name + "_quantize", "QuantizeLinear",
                          {builder_.native(node.outputs[0]), builder_.scale_constant(sign->scale),
                           builder_.zero_point_constant(ElementType::kI8, 0)},
                          eight_bits);
      id = builder_.add_value(form.name, ElementType::kI8, y.shape);
      Node& bits = builder_.add_node(node, "QRequantize", kTilewrightDomain, {eight_bits}, {*id}, true);
      bits.attributes["multiplier"] = int64_t{1};
      bits.attributes["shift"] = int64_t{0};
      set_output_form(bits, form);
    }
    builder_.set_twin(node.outputs[0], {*id, form.quantization, form.low, form.high});
    return true;
  }

  // Operators on the stored integers themselves (QLinear models reshape and pool them).
  bool lower_stored(const Node& node) {
    const Twin* x = node.inputs.empty() || source_.is_constant(node.input(0))
                        ? nullptr
                        : builder_.stored_integers(node.input(0));
    if (!x) return false;
    if (node.is("Clip")) {
      // Absorbed by the operator that made the value, when its range is already inside.
      const auto interval = clip_interval(source_, node);
      const auto zero = x->quantization.zero_point;
      if (!interval || x->low - zero < interval->first || x->high - zero > interval->second) return false;
      builder_.set_stored_integers(node.outputs[0], *x);
      return true;
    }
    if (node.is("Pad") || !only_moves_data(source_, node)) return false;
    const Twin copy_of_x = *x;
    IntegerForm form = full_form(builder_.type_of(*x), x->quantization, source_.value(node.outputs[0]).name);
    form.low = x->low;
    form.high = x->high;
    const auto ids = emit_movement(builder_, node, x->id, form);
    for (size_t i = 0; i < ids.size(); ++i) {
      Twin moved = copy_of_x;
      moved.id = ids[i];
      builder_.set_stored_integers(node.outputs[i], moved);
    }
    return true;
  }

  // Float operators whose result is exactly an integer image again. Returns true when nothing is left to do
  // in float.
  bool lower_twins(const Node& node) {
    if (node.outputs.empty() || node.inputs.empty()) return false;
    if (node.is("Concat")) return concatenate_twins(node);
    const Twin* x = builder_.twin(node.input(0));
    if (!x) return false;
    const Twin image = *x;
    const Quantization& q = image.quantization;
    const ElementType type = builder_.type_of(image);
    if (node.is("Relu")) {
      // Zero is exactly representable, other bounds need not be.
      if (image.low >= q.zero_point) {
        builder_.set_twin(node.outputs[0], image);
      } else if (q.zero_point < highest(type) && q.zero_point >= lowest(type)) {
        Twin clipped = image;
        clipped.low = q.zero_point;
        clipped.high = std::max<int64_t>(image.high, q.zero_point);
        clipped.id = emit_clip(builder_, node, image.id, clipped.low, clipped.high,
                               source_.value(node.outputs[0]).name + "_integer");
        builder_.set_twin(node.outputs[0], clipped);
      } else {
        return false;
      }
      return true;
    }
    if (!only_moves_data(source_, node) || !pads_representably(source_, node, q, type)) return false;
    const auto ids = emit_movement(builder_, node, image.id,
                                   full_form(type, q, source_.value(node.outputs[0]).name + "_integer"));
    for (size_t i = 0; i < ids.size(); ++i) {
      Twin moved = image;
      moved.id = ids[i];
      if (node.is("Pad")) moved.low = lowest(type), moved.high = highest(type);
      builder_.set_twin(node.outputs[i], moved);
    }
    return true;
  }

  bool concatenate_twins(const Node& node) {
    const Twin* first = builder_.twin(node.input(0));
    if (!first) return false;
    Twin joined = *first;
    const ElementType type = builder_.type_of(joined);
    std::vector<ValueId> parts;
    for (ValueId old : node.inputs) {
      const Twin* part = builder_.twin(old);
      if (!part || !(part->quantization == joined.quantization) || builder_.type_of(*part) != type)
        return false;
      joined.low = std::min(joined.low, part->low);
      joined.high = std::max(joined.high, part->high);
      parts.push_back(part->id);
    }
    const Value& y = source_.value(node.outputs[0]);
    joined.id = builder_.add_value(y.name + "_integer", type, y.shape);
    builder_.add_node(node, "Concat", "", std::move(parts), {joined.id}, true).attributes = node.attributes;
    builder_.set_twin(node.outputs[0], joined);
    return true;
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs, outputs;
    for (ValueId old : node.inputs) inputs.push_back(builder_.native(old));
    for (ValueId old : node.outputs) {
      if (old == kNoValue) {
        outputs.push_back(kNoValue);
        continue;
      }
      const Value& value = source_.value(old);
      outputs.push_back(builder_.add_value(value.name, value.type, value.shape));
      builder_.set_native(old, outputs.back());
    }
    Node& copied =
        builder_.add_node(node, node.op, node.domain, std::move(inputs), std::move(outputs), false);
    copied.attributes = node.attributes;
  }

  void fill(const Graph& graph, IntegerizeReport& report) const;
  void collect_meanings(IntegerizeReport& report);
  static void keep_living(const Graph& graph, std::vector<IntegerMeaning>& meanings);

  const Graph& source_;
  IntegerBuilder builder_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<NodeId> producers_;
  std::map<ValueId, Tensor> quantized_constants_;  // what QuantizeLinear makes of constants
};

// Whether the node works on constants only, as seen through DequantizeLinear.
bool on_constants(const Graph& graph, const Node& node, std::vector<bool>& constant) {
  const bool result = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
    return v == kNoValue || graph.is_constant(v) || constant[size_t(v)];
  });
  for (ValueId v : node.outputs) {
    if (v != kNoValue) constant[size_t(v)] = result;
  }
  return result;
}

void Integerizer::fill(const Graph& graph, IntegerizeReport& report) const {
  std::unordered_set<std::string> alive;
  for (const Node& node : graph.nodes) alive.insert(node.name);
  std::vector<bool> constant(source_.values.size(), false);
  for (NodeId id = 0; id < NodeId(source_.nodes.size()); ++id) {
    const Node& node = source_.nodes[size_t(id)];
    if (on_constants(source_, node, constant) || node.is("QuantizeLinear") || node.is("DequantizeLinear"))
      continue;
    IntegerizeRecord record{node.name, node.op, "", "", multiply_accumulates(source_, node)};
    for (const auto& [name, op] : builder_.integer_nodes(id)) {
      // What computes, rather than a Reshape around it.
      if (alive.count(name) && (record.integer_op.empty() || op[0] == 'Q')) record.integer_op = op;
    }
    const auto& copies = builder_.float_nodes(id);
    const bool in_float =
        std::any_of(copies.begin(), copies.end(), [&](const auto& name) { return alive.count(name); });
    if (record.integer_op.empty() && !in_float) {
      // Nobody reads it, or its work is done elsewhere (a Clip inside the range already).
      continue;
    }
    if (in_float) {
      record.reason = builder_.reason(id);
      if (record.reason.empty()) {
        record.reason =
            record.integer_op.empty() ? "its result is not quantised" : "its float result is read as well";
      }
      if (!record.integer_op.empty()) record.integer_op.clear();
    }
    report.records.push_back(std::move(record));
  }
}

// Must run while the ids of the graph under construction are valid.
void Integerizer::collect_meanings(IntegerizeReport& report) {
  const std::vector<NodeId> producers = source_.producers();
  const auto before = [&](ValueId value, const char* op) {
    const NodeId producer = producers[size_t(value)];
    const bool matches = producer != kNoNode && source_.nodes[size_t(producer)].is(op);
    return matches ? source_.nodes[size_t(producer)].inputs[0] : value;
  };
  for (ValueId old = 0; old < ValueId(source_.values.size()); ++old) {
    const Twin* twin = builder_.twin(old);
    if (!twin) continue;
    const ValueId source = before(before(old, "DequantizeLinear"), "QuantizeLinear");
    report.meanings.push_back({builder_.graph().value(twin->id).name, source_.value(source).name,
                               double(twin->quantization.scale), twin->quantization.zero_point});
  }
}

// Leaves those whose integer value survived, the first of each, in the order in which the values are made.
void Integerizer::keep_living(const Graph& graph, std::vector<IntegerMeaning>& meanings) {
  std::map<std::string, size_t> order;
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.outputs) {
      if (v != kNoValue) order.emplace(graph.value(v).name, order.size());
    }
  }
  std::map<size_t, IntegerMeaning> living;
  for (IntegerMeaning& meaning : meanings) {
    const auto found = order.find(meaning.integer);
    if (found != order.end()) living.emplace(found->second, std::move(meaning));
  }
  meanings.clear();
  for (auto& [position, meaning] : living) meanings.push_back(std::move(meaning));
}

}  // namespace

bool is_quantized(const Graph& graph) {
  const std::vector<NodeId> producers = graph.producers();
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.is("QuantizeLinear") || node.is("DequantizeLinear") || node.domain == kTilewrightDomain ||
           node.op.starts_with("QLinear") || sign_of(graph, producers, node).has_value();
  });
}

Graph integerize(const Graph& qdq, IntegerizeReport* report) {
  if (report) *report = {};
  return Integerizer(qdq).run(report);
}

}  // namespace tilewright
