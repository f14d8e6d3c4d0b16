// The order of the steps: plan, weight scales, activation scales by calibration, for powers of two the order
// of scales (repeated until nothing changes), weight scales raised until bias and shift fit, rounding, new
// graph.
#include "tilewright/quantize/quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "tilewright/base/parallel.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/calibrate/layer_reconstruction.h"
#include "tilewright/quantize/calibrate/single_precision.h"
#include "tilewright/quantize/calibrate/weight_quantization.h"
#include "tilewright/quantize/integerize/integer_builder.h"
#include "tilewright/quantize/quantization_plan.h"

namespace tilewright {
namespace {

constexpr int kMaximumVtaShift = 15;
constexpr double kLargestBias = 0x1p30;  // in accumulator units; leaves room for the products
constexpr int kBiasBits = 22;            // as many as f32 arithmetic keeps: no more are known of a bias

// A bias in accumulator units, of at most kBiasBits significant bits.
int64_t rounded_bias(double units) {
  const double limited = std::clamp(units, -kLargestBias, kLargestBias);
  int bits = 0;
  std::frexp(limited, &bits);
  const auto unit = int64_t(1) << std::clamp(bits - kBiasBits, 0, 62);
  return std::llround(limited / double(unit)) * unit;
}

void check(const QuantizeOptions& options) {
  Diagnostics problems;
  const auto bits = [&](const char* field, int value) {
    if (value == 1) {
      problems.error(ErrorKind::kUnsupported, "quantization options", field,
                     "1 bit is not supported after training", "train a bipolar network and import it");
    } else if (value < 2 || value > 8) {
      problems.error(ErrorKind::kInvalidInput, "quantization options", field,
                     fmt::format("{} bits are not possible", value), "choose 2 to 8");
    }
  };
  bits("weight_bits", options.weight_bits);
  bits("activation_bits", options.activation_bits);
  if (!(options.percentile > 50 && options.percentile <= 100)) {
    problems.error(ErrorKind::kInvalidInput, "quantization options", "percentile",
                   fmt::format("{} is outside 50..100", options.percentile), "choose for example 99.99");
  }
  problems.raise_if_any();
}

void check_is_float(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const bool quantized = node.op == "QuantizeLinear" || node.op == "DequantizeLinear" ||
                           node.op.rfind("QLinear", 0) == 0 || node.domain == kTilewrightDomain;
    if (!quantized) continue;
    throw Error({{ErrorKind::kInvalidInput, where(node), node.op, "the model is quantised already",
                  "use it as it is, or start from the float model"}});
  }
}

// One operator with weights, while scales are chosen.
struct Weighted {
  WeightedOperator op;
  Tensor weights;            // f32, alpha of Gemm included
  int axis = 0;              // of the output channels
  std::vector<double> bias;  // what is in the operator's own bias, per output channel; may be empty
  double largest_bias = 0;
  std::vector<double> bias_magnitudes;  // per scale
  std::vector<double> scales;
  Tensor integers;
};

class Quantizer {
 public:
  Quantizer(const Graph& graph, const QuantizeOptions& options)
      : graph_(to_single_precision(graph)), options_(options), plan_(plan_quantization(graph_)) {
    activation_form_ = {options.activation_bits, options.symmetric_activations || power_of_two(),
                        power_of_two()};
    weight_form_ = {options.weight_bits, true, power_of_two()};
  }

  Graph run(const std::vector<Tensor>& samples, QuantizeReport& report) {
    if (plan_.values.empty()) return std::move(graph_);
    for (const Value& value : graph_.values) source_names_.push_back(value.name);
    if (options_.equalize) {
      report.factors = equalize_channels(
          graph_, plan_, samples,
          {options_.weight_bits, options_.activation_bits, options_.per_channel, options_.threads});
    }
    for (const WeightedOperator& op : plan_.weighted) weighted_.push_back(prepare(op));
    parallel_for(options_.threads, int64_t(weighted_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Weighted& w = weighted_[size_t(i)];
        w.scales = select_weight_scales(w.weights, w.axis, options_.per_channel, weight_form_);
      }
    });
    select_activations(samples);
    if (power_of_two()) order_scales();
    limit_weight_scales();
    parallel_for(options_.threads, int64_t(weighted_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Weighted& w = weighted_[size_t(i)];
        w.integers = round_weights(w.weights, w.axis, w.scales, weight_form_);
      }
    });
    fit_layers(samples, report);
    return build();
  }

 private:
  bool power_of_two() const { return options_.scales == ScaleKind::kPowerOfTwo; }
  Quantization& quantization_of(ValueId v) { return groups_[size_t(plan_.group_of(v))]; }

  Weighted prepare(const WeightedOperator& op) {
    Node& node = graph_.nodes[size_t(op.node)];
    Weighted w{op, *graph_.constant_input(node, 1)};
    if (node.is("ConvTranspose") || node.is("MatMul")) w.axis = 1;
    if (node.is("Gemm")) {
      w.axis = node.int_or("transB", 0) != 0 ? 0 : 1;
      const float alpha = node.float_or("alpha", 1), beta = node.float_or("beta", 1);
      if (alpha != 1) {
        for (float& x : w.weights.mutable_data<float>()) x *= alpha;
        // In the graph too: calibration runs it, without the attribute.
        node.inputs[1] = graph_.add_constant(node.name + "_scaled_weights", w.weights);
      }
      node.attributes.erase("alpha");
      node.attributes.erase("beta");
      if (node.has_input(2) && beta != 1) {
        Tensor scaled = *graph_.constant_input(node, 2);
        for (int64_t i = 0; i < scaled.size(); ++i) scaled.set_number(i, scaled.number_at(i) * beta);
        node.inputs[2] = graph_.add_constant(node.name + "_scaled_bias", std::move(scaled));
      }
    }
    const int64_t groups = node.is("ConvTranspose") ? node.int_or("group", 1) : 1;
    const int64_t per_group = w.weights.shape()[w.axis], channels = per_group * groups;
    w.bias_magnitudes.assign(options_.per_channel ? size_t(per_group) : 1, 0.0);
    std::vector<double> magnitudes(size_t(channels), 0.0);
    if (const Tensor* bias = graph_.constant_input(node, 2)) {
      // A bias that differs between rows stays as it is, and the operator stays in float.
      if (varies_by_column_only(bias->shape(), channels)) {
        for (int64_t o = 0; o < channels; ++o) w.bias.push_back(bias->number_at(bias->size() == 1 ? 0 : o));
      }
      for (size_t o = 0; o < w.bias.size(); ++o) magnitudes[o] += std::fabs(w.bias[o]);
    }
    if (op.bias_addition != kNoNode) {
      const Node& addition = graph_.nodes[size_t(op.bias_addition)];
      const Tensor* more = graph_.constant_input(addition, graph_.is_constant(addition.input(0)) ? 0 : 1);
      for (size_t o = 0; o < magnitudes.size(); ++o) {
        magnitudes[o] += std::fabs(more->number_at(more->size() == 1 ? 0 : int64_t(o)));
      }
    }
    for (size_t o = 0; o < magnitudes.size(); ++o) {
      double& largest = w.bias_magnitudes[w.bias_magnitudes.size() == 1 ? 0 : o % size_t(per_group)];
      largest = std::max(largest, magnitudes[o]);
    }
    return w;
  }

  void select_activations(const std::vector<Tensor>& samples) {
    const std::vector<Histogram> seen = calibrate(graph_, samples, plan_.values, options_.threads);
    std::vector<Histogram> merged(plan_.zero_point_zero.size());
    for (size_t i = 0; i < seen.size(); ++i) merged[size_t(plan_.group[i])].merge(seen[i]);
    groups_.resize(merged.size());
    parallel_for(options_.threads, int64_t(merged.size()), [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        NumberForm form = activation_form_;
        form.symmetric |= plan_.zero_point_zero[size_t(g)];
        groups_[size_t(g)] =
            select_quantization(merged[size_t(g)], options_.calibration, form, options_.percentile);
      }
    });
  }

  // Powers of two: shifts only go right, so scales may not shrink along a requantisation. A scale that is too
  // small is raised, and then perhaps those after it; scales only grow, to the largest product at most.
  void order_scales() {
    for (bool changed = true; changed;) {
      changed = false;
      const auto raise = [&](ValueId v, double least) {
        Quantization& q = quantization_of(v);
        if (q.scale >= least) return;
        q.scale = float(least);
        changed = true;
      };
      for (const Weighted& w : weighted_) {
        const double largest = *std::max_element(w.scales.begin(), w.scales.end());
        raise(w.op.output, double(quantization_of(w.op.input).scale) * largest);
      }
      for (const ScaleOrder& order : plan_.orders) raise(order.to, quantization_of(order.from).scale);
    }
  }

  void limit_weight_scales() {
    for (Weighted& w : weighted_) {
      const double x = quantization_of(w.op.input).scale, y = quantization_of(w.op.output).scale;
      for (size_t c = 0; c < w.scales.size(); ++c) {
        double& scale = w.scales[c];
        // Finer than this, the bias overflows or the shift gets out of range.
        scale = std::max({scale, w.bias_magnitudes[c] / (x * kLargestBias),
                          y / x * std::exp2(power_of_two() ? -kMaximumVtaShift : -40)});
        if (power_of_two()) {
          scale = std::exp2(std::ceil(std::log2(scale)));
          scale = std::min(scale, y / x);
        }
      }
    }
  }

  // Rounding and biases by what the layers compute from the samples.
  void fit_layers(const std::vector<Tensor>& samples, QuantizeReport& report) {
    std::vector<NodeId> nodes;
    for (const Weighted& w : weighted_) nodes.push_back(w.op.node);
    const std::vector<std::vector<float>> rows = sample_layer_rows(graph_, samples, nodes, options_.threads);
    for (size_t i = 0; i < weighted_.size(); ++i) {
      if (rows[i].empty()) continue;
      const WeightedOperator& op = weighted_[i].op;
      report.layers.push_back({graph_.nodes[size_t(op.node)].name, source_names_[size_t(op.output)],
                               fit_layer(weighted_[i], rows[i])});
    }
  }

  // Returns the errors that are left.
  LayerErrors fit_layer(Weighted& w, const std::vector<float>& rows) {
    const Node& node = graph_.nodes[size_t(w.op.node)];
    const LayerMatrix matrix = layer_matrix(graph_, node);
    const Quantization q = quantization_of(w.op.input);
    const double low = dequantize_number(activation_form_.lowest(), q);
    const double high = dequantize_number(activation_form_.highest(), q);
    std::vector<float> quantized(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t integer =
          quantize_number(rows[i], q, activation_form_.lowest(), activation_form_.highest());
      quantized[i] = float(dequantize_number(integer, q));
    }
    const auto weights = std::as_const(w.weights).data<float>();
    if (options_.reconstruct) {
      reconstruct_rounding(matrix, weights, w.scales, quantized, weight_form_.highest(),
                           w.integers.mutable_data<int8_t>(), options_.threads);
    }
    const auto integers = std::as_const(w.integers).data<int8_t>();
    if (options_.correct_bias && !(w.bias.empty() && (node.has_input(2) || node.is("MatMul")))) {
      // Numbers beyond the range stay out of it: few and large, they would move the results of all others.
      std::vector<float> inside = rows;
      for (float& x : inside) x = std::clamp(x, float(low), float(high));
      const std::vector<double> errors =
          mean_output_error(matrix, weights, inside, w.scales, integers, quantized);
      w.bias.resize(errors.size(), 0.0);
      for (size_t o = 0; o < errors.size(); ++o) w.bias[o] += errors[o];
    }
    return layer_errors(matrix, weights, rows, w.scales, integers, quantized, low, high, options_.threads);
  }

  // --- the new graph

  std::string fresh_node_name(const std::string& wanted) {
    std::string candidate = wanted;
    for (int i = 1; !node_names_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", wanted, i);
    return candidate;
  }
  void append(std::vector<Node>& nodes, const std::string& wanted, const std::string& op,
              std::vector<ValueId> inputs, ValueId output, Attributes attributes = {}) {
    nodes.push_back({fresh_node_name(wanted), "", op, std::move(inputs), {output}, std::move(attributes)});
  }
  ValueId zero_point_constant(const std::string& owner, ElementType type, int64_t number, int64_t count) {
    Tensor tensor(type, count == 1 ? Shape{} : Shape{count});
    for (int64_t i = 0; i < count; ++i) tensor.set_integer(i, number);
    return graph_.add_constant(owner + "_zero_point", std::move(tensor));
  }

  // QuantizeLinear, for narrow types Clip, DequantizeLinear after `v`; `replacement_` tells readers.
  void append_pair(std::vector<Node>& nodes, ValueId v) {
    const Quantization q = quantization_of(v);
    const Shape shape = graph_.value(v).shape;
    const std::string base = graph_.value(v).name;
    const bool is_input = std::find(graph_.inputs.begin(), graph_.inputs.end(), v) != graph_.inputs.end();
    const bool is_output = graph_.is_output(v) && !is_input;
    const ValueId scale = graph_.add_constant(base + "_scale", Tensor::scalar(q.scale));
    const ValueId zero = zero_point_constant(base, ElementType::kI8, q.zero_point, 1);
    ValueId quantized = graph_.add_value(base + "_quantized", ElementType::kI8, shape);
    append(nodes, base + "_quantize", "QuantizeLinear", {v, scale, zero}, quantized);
    if (options_.activation_bits < 8) {
      const ValueId narrow = graph_.add_value(base + "_narrow", ElementType::kI8, shape);
      const ValueId low = zero_point_constant(base + "_low", ElementType::kI8, activation_form_.lowest(), 1);
      const ValueId high =
          zero_point_constant(base + "_high", ElementType::kI8, activation_form_.highest(), 1);
      append(nodes, base + "_clip", "Clip", {quantized, low, high}, narrow);
      quantized = narrow;
    }
    const ValueId result =
        graph_.add_value(base + (is_output ? "_real" : "_dequantized"), ElementType::kF32, shape);
    if (is_output) std::swap(graph_.value(v).name, graph_.value(result).name);  // the output keeps its name
    append(nodes, base + "_dequantize", "DequantizeLinear", {quantized, scale, zero}, result);
    replacement_[size_t(v)] = result;
    if (is_output) std::replace(graph_.outputs.begin(), graph_.outputs.end(), v, result);
  }

  void append_constant(std::vector<Node>& nodes, Node& node, int input, const char* what, Tensor integers,
                       const std::vector<float>& scales, int64_t axis) {
    const std::string base = fmt::format("{}_{}", node.name, what);
    const Shape shape = integers.shape();
    const Shape scale_shape = scales.size() == 1 ? Shape{} : Shape{int64_t(scales.size())};
    const ValueId zero = zero_point_constant(base, integers.type(), 0, int64_t(scales.size()));
    const ValueId constant = graph_.add_constant(base + "_quantized", std::move(integers));
    const ValueId scale =
        graph_.add_constant(base + "_scale", Tensor(scale_shape, std::span<const float>(scales)));
    const ValueId result = graph_.add_value(base, ElementType::kF32, shape);
    append(nodes, base + "_dequantize", "DequantizeLinear", {constant, scale, zero}, result,
           {{"axis", axis}});
    node.inputs.resize(std::max(node.inputs.size(), size_t(input) + 1), kNoValue);
    node.inputs[size_t(input)] = result;
  }

  void append_weights(std::vector<Node>& nodes, Node& node, const Weighted& w) {
    const std::vector<float> scales(w.scales.begin(), w.scales.end());
    append_constant(nodes, node, 1, "weights", w.integers, scales, w.axis);
    if (w.bias.empty()) return;
    const double x = quantization_of(w.op.input).scale;
    Tensor bias(ElementType::kI32, Shape{int64_t(w.bias.size())});
    std::vector<float> bias_scales;
    for (size_t o = 0; o < w.bias.size(); ++o) {
      const double scale = x * double(scales[o % scales.size()]);
      bias.set_integer(int64_t(o), rounded_bias(w.bias[o] / scale));
      bias_scales.push_back(float(scale));
    }
    if (scales.size() == 1) bias_scales.resize(1);
    append_constant(nodes, node, 2, "bias", std::move(bias), bias_scales, 0);
  }

  Graph build() {
    for (const Node& node : graph_.nodes) node_names_.insert(node.name);
    replacement_.assign(graph_.values.size(), kNoValue);
    std::vector<bool> pending(graph_.values.size(), false);
    for (ValueId v : plan_.values) pending[size_t(v)] = true;
    std::vector<const Weighted*> weighted(graph_.nodes.size(), nullptr);
    for (const Weighted& w : weighted_) weighted[size_t(w.op.node)] = &w;

    std::vector<Node> nodes;
    const auto pair_after = [&](ValueId v) {
      if (v != kNoValue && size_t(v) < pending.size() && pending[size_t(v)]) append_pair(nodes, v);
    };
    for (ValueId v : std::vector<ValueId>(graph_.inputs)) pair_after(v);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node node = graph_.nodes[n];
      for (ValueId& v : node.inputs) {
        if (v != kNoValue && size_t(v) < replacement_.size() && replacement_[size_t(v)] != kNoValue) {
          v = replacement_[size_t(v)];
        }
      }
      if (weighted[n]) append_weights(nodes, node, *weighted[n]);
      nodes.push_back(node);
      for (ValueId v : node.outputs) pair_after(v);
    }
    graph_.nodes = std::move(nodes);
    graph_.remove_dead();
    return std::move(graph_);
  }

  Graph graph_;
  const QuantizeOptions options_;
  QuantizationPlan plan_;
  NumberForm activation_form_, weight_form_;
  std::vector<Weighted> weighted_;
  std::vector<Quantization> groups_;
  std::vector<std::string> source_names_;  // of the values, before any was renamed
  std::vector<ValueId> replacement_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

Graph quantize(const Graph& float_graph, const std::vector<Tensor>& samples, const QuantizeOptions& options,
               QuantizeReport* report) {
  check(options);
  check_is_float(float_graph);
  QuantizeReport ignored;
  return Quantizer(float_graph, options).run(samples, report ? *report : ignored);
}

}  // namespace tilewright
