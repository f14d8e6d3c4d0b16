// The order of the steps: activation scales, weight scales, for powers of two the order of scales (repeated
// until nothing changes), weight scales raised until bias and shift fit, rounding, biases.
#include "tilewright/quantize/network_quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/base/parallel.h"
#include "tilewright/quantize/calibrate/layer_reconstruction.h"
#include "tilewright/quantize/calibrate/weight_quantization.h"
#include "tilewright/quantize/layer_ranges.h"

namespace tilewright {
namespace {

constexpr int kMaximumVtaShift = 15;

// Sets the numbers that `names` gives; `place` finds the place of a name, or nullptr.
template <typename Place>
void set_named(const std::map<std::string, int>& names, const char* field, const char* hint,
               Diagnostics& problems, const Place& place) {
  for (const auto& [name, bits] : names) {
    if (int* const found = place(name)) {
      *found = bits;
    } else {
      problems.error(ErrorKind::kInvalidInput, "quantization options", field,
                     fmt::format("nothing that is quantised is called '{}'", name), hint);
    }
  }
}

}  // namespace

BitWidths chosen_widths(const PreparedNetwork& network, const QuantizeOptions& options) {
  const QuantizationPlan& plan = network.plan;
  BitWidths widths{std::vector<int>(network.layers.size(), options.weight_bits),
                   std::vector<int>(plan.zero_point_zero.size(), options.activation_bits)};
  Diagnostics problems;
  set_named(options.layer_bits, "layer_bits", "name a node with constant weights", problems,
            [&](const std::string& name) -> int* {
              for (size_t i = 0; i < network.layers.size(); ++i) {
                if (network.graph.nodes[size_t(network.layers[i].op.node)].name == name)
                  return &widths.layers[i];
              }
              return nullptr;
            });
  set_named(options.value_bits, "value_bits", "name an activation that is quantised", problems,
            [&](const std::string& name) -> int* {
              for (size_t i = 0; i < plan.values.size(); ++i) {
                const std::string& known = network.graph.value(plan.values[i]).name;
                if (known == name || known == name + "_equalized")
                  return &widths.groups[size_t(plan.group[i])];
              }
              return nullptr;
            });
  problems.raise_if_any();
  return widths;
}

NetworkQuantizer::NetworkQuantizer(const PreparedNetwork& network, const SampleStatistics& statistics,
                                   const QuantizeOptions& options)
    : network_(network), statistics_(statistics), options_(options) {}

NumberForm NetworkQuantizer::group_form(int group, int bits) const {
  const bool symmetric =
      options_.symmetric_activations || power_of_two() || network_.plan.zero_point_zero[size_t(group)];
  return {bits, symmetric, power_of_two()};
}

void NetworkQuantizer::select_all(const BitWidths& widths) {
  select_groups(widths);
  select_weights(widths);
  if (power_of_two()) order_scales();
  limit_weight_scales();
}

const NetworkQuantizer::Fit& NetworkQuantizer::known_fit(size_t layer, const BitWidths& widths) {
  const WeightedOperator& op = network_.layers[layer].op;
  const auto key =
      std::tuple{layer, widths.layers[layer], group_of(op.input).form.bits, group_of(op.output).form.bits};
  auto known = known_fits_.find(key);
  if (known == known_fits_.end()) known = known_fits_.emplace(key, fit(layer, widths.layers[layer])).first;
  return known->second;
}

Graph NetworkQuantizer::quantize(const BitWidths& widths, std::vector<LayerErrors>* errors) {
  select_all(widths);
  std::vector<QuantizedLayer> layers;
  if (errors != nullptr) errors->clear();
  for (size_t i = 0; i < network_.layers.size(); ++i) {
    const Fit& fit = known_fit(i, widths);
    layers.push_back(fit.layer);
    if (errors != nullptr) errors->push_back(fit.errors);
  }
  return write_qdq(network_, layers, groups_);
}

RoundedNetwork NetworkQuantizer::rounded(const BitWidths& widths) {
  TILEWRIGHT_CHECK(options_.weight_group == 0 && !power_of_two(), "scales that cannot be trained");
  select_all(widths);
  RoundedNetwork result;
  for (size_t i = 0; i < network_.layers.size(); ++i) {
    const LayerWeights& layer = network_.layers[i];
    const QuantizedLayer& own = known_fit(i, widths).layer;
    result.layers.push_back({layer.op.node, layer.axis, weight_form(widths.layers[i]).highest(), own.scales,
                             own.integers, own.bias});
  }
  for (const QuantizedGroup& group : groups_) result.groups.push_back({{}, group.quantization, group.form});
  const QuantizationPlan& plan = network_.plan;
  for (size_t i = 0; i < plan.values.size(); ++i)
    result.groups[size_t(plan.group[i])].values.push_back(plan.values[i]);
  return result;
}

Graph NetworkQuantizer::write(const RoundedNetwork& network) {
  groups_.clear();
  scales_.clear();
  for (const RoundedGroup& group : network.groups) groups_.push_back({group.quantization, group.form});
  for (const RoundedLayer& layer : network.layers) scales_.push_back(layer.scales);
  limit_weight_scales();
  std::vector<QuantizedLayer> layers;
  for (size_t i = 0; i < network.layers.size(); ++i)
    layers.push_back({scales_[i], network.layers[i].integers, network.layers[i].bias});
  return write_qdq(network_, layers, groups_);
}

void NetworkQuantizer::select_groups(const BitWidths& widths) {
  groups_.resize(widths.groups.size());
  std::vector<int> unknown;
  for (int g = 0; g < int(groups_.size()); ++g) {
    groups_[size_t(g)].form = group_form(g, widths.groups[size_t(g)]);
    if (known_groups_.count({g, widths.groups[size_t(g)]}) == 0) unknown.push_back(g);
  }
  std::vector<Quantization> found(unknown.size());
  parallel_for(options_.threads, int64_t(unknown.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int g = unknown[size_t(i)];
      const NumberForm form = groups_[size_t(g)].form;
      // 16 bits have steps to spare: nothing is gained by clipping.
      const CalibrationMethod method =
          form.bits > 8 ? CalibrationMethod::kMinMax : options_.calibration.value();
      found[size_t(i)] =
          method == CalibrationMethod::kLayerError
              ? select_by_layers(network_, statistics_, g, form)
              : select_quantization(statistics_.groups[size_t(g)], method, form, options_.percentile);
    }
  });
  for (size_t i = 0; i < unknown.size(); ++i)
    known_groups_[{unknown[i], groups_[size_t(unknown[i])].form.bits}] = found[i];
  for (int g = 0; g < int(groups_.size()); ++g)
    groups_[size_t(g)].quantization = known_groups_.at({g, groups_[size_t(g)].form.bits});
}

LayerMatrix NetworkQuantizer::matrix_of(size_t layer) const {
  return layer_matrix(network_.graph, network_.graph.nodes[size_t(network_.layers[layer].op.node)]);
}

bool NetworkQuantizer::in_weight_groups(size_t layer, int bits) const {
  return options_.weight_group > 0 && bits < 8 && matrix_of(layer).depth > 0;
}

double NetworkQuantizer::mean_weight_bits(const BitWidths& widths) const {
  double bits = 0, count = 0;
  for (size_t i = 0; i < network_.layers.size(); ++i) {
    const auto weights = double(network_.layers[i].weights.size());
    count += weights;
    bits += weights * widths.layers[i];
    if (!in_weight_groups(i, widths.layers[i])) continue;
    const LayerMatrix matrix = matrix_of(i);
    const WeightFactors factors{options_.weight_group, matrix.depth, {}};
    bits += double(matrix.outputs * factors.groups_per_output() * factor_bits(widths.layers[i]));
  }
  return count == 0 ? 0 : bits / count;
}

std::vector<double> NetworkQuantizer::weight_scales(size_t index, int bits) const {
  const LayerWeights& layer = network_.layers[index];
  if (in_weight_groups(index, bits)) {
    return select_group_scales(layer.weights.data<float>(), matrix_of(index), options_.weight_group,
                               options_.per_channel, weight_form(bits));
  }
  return select_weight_scales(layer.weights, layer.axis, options_.per_channel, weight_form(bits));
}

void NetworkQuantizer::select_weights(const BitWidths& widths) {
  scales_.resize(network_.layers.size());
  parallel_for(options_.threads, int64_t(scales_.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int bits = widths.layers[size_t(i)];
      const auto known = known_scales_.find({size_t(i), bits});
      scales_[size_t(i)] = known != known_scales_.end() ? known->second : weight_scales(size_t(i), bits);
    }
  });
  for (size_t i = 0; i < scales_.size(); ++i)
    known_scales_.emplace(std::pair{i, widths.layers[i]}, scales_[i]);
}

// Powers of two: shifts only go right, so scales may not shrink along a requantisation. A scale that is too
// small is raised, and then perhaps those after it; scales only grow, to the largest product at most.
void NetworkQuantizer::order_scales() {
  for (bool changed = true; changed;) {
    changed = false;
    const auto raise = [&](ValueId v, double least) {
      Quantization& q = group_of(v).quantization;
      if (q.scale >= least) return;
      q.scale = float(least);
      changed = true;
    };
    for (size_t i = 0; i < scales_.size(); ++i) {
      const WeightedOperator& op = network_.layers[i].op;
      const double largest = *std::max_element(scales_[i].begin(), scales_[i].end());
      raise(op.output, double(group_of(op.input).quantization.scale) * largest);
    }
    for (const ScaleOrder& order : network_.plan.orders)
      raise(order.to, group_of(order.from).quantization.scale);
  }
}

void NetworkQuantizer::limit_weight_scales() {
  for (size_t i = 0; i < scales_.size(); ++i) {
    const LayerWeights& layer = network_.layers[i];
    const double x = group_of(layer.op.input).quantization.scale;
    const double y = group_of(layer.op.output).quantization.scale;
    // Finer than this, the bias overflows or the shift gets out of range.
    std::vector<double> least(scales_[i].size(), y / x * std::exp2(power_of_two() ? -kMaximumVtaShift : -40));
    for (size_t c = 0; c < layer.bias_magnitudes.size(); ++c) {
      double& scale = least[c % least.size()];
      scale = std::max(scale, layer.bias_magnitudes[c] / (x * kLargestBias));
    }
    for (size_t c = 0; c < scales_[i].size(); ++c) {
      double& scale = scales_[i][c];
      scale = std::max(scale, least[c]);
      if (power_of_two()) {
        scale = std::exp2(std::ceil(std::log2(scale)));
        scale = std::min(scale, y / x);
      }
    }
  }
}

NetworkQuantizer::Fit NetworkQuantizer::fit(size_t index, int bits) {
  const LayerWeights& layer = network_.layers[index];
  const NumberForm form = weight_form(bits);
  RoundingSteps steps{scales_[index], {}, -form.highest(), form.highest()};
  Fit result{{scales_[index], {}, layer.bias}, {}};
  if (in_weight_groups(index, bits)) {
    const auto weights = layer.weights.data<float>();
    const LayerMatrix matrix = matrix_of(index);
    steps.lowest = form.lowest();
    steps.factors = select_factors(weights, matrix, options_.weight_group, steps.scales, form);
    result.layer.integers = Tensor(ElementType::kI8, layer.weights.shape());
    round_in_groups(weights, matrix, steps.scales, steps.factors, form,
                    result.layer.integers.mutable_data<int8_t>());
  } else {
    result.layer.integers = round_weights(layer.weights, layer.axis, steps.scales, form);
  }
  if (!statistics_.rows[index].empty()) fit_to_rows(index, steps, result);
  return result;
}

// Rounding and bias by what the layer computes from the samples, and the errors that are left.
void NetworkQuantizer::fit_to_rows(size_t index, const RoundingSteps& steps, Fit& fit) {
  const LayerWeights& layer = network_.layers[index];
  const std::vector<float>& rows = statistics_.rows[index];
  const Node& node = network_.graph.nodes[size_t(layer.op.node)];
  const LayerMatrix matrix = matrix_of(index);
  const auto& [q, input_form] = group_of(layer.op.input);
  const double low = dequantize_number(input_form.lowest(), q);
  const double high = dequantize_number(input_form.highest(), q);
  std::vector<float> quantized(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t integer = quantize_number(rows[i], q, input_form.lowest(), input_form.highest());
    quantized[i] = float(dequantize_number(integer, q));
  }
  const auto weights = layer.weights.data<float>();
  QuantizedLayer& fitted = fit.layer;
  if (options_.reconstruct) {
    reconstruct_rounding(matrix, weights, steps, quantized, fitted.integers.mutable_data<int8_t>(),
                         options_.threads);
  }
  const auto integers = std::as_const(fitted.integers).data<int8_t>();
  if (options_.correct_bias && !(fitted.bias.empty() && (node.has_input(2) || node.is("MatMul")))) {
    // Numbers beyond the range stay out of it: few and large, they would move the results of all others.
    std::vector<float> inside = rows;
    for (float& x : inside) x = std::clamp(x, float(low), float(high));
    const std::vector<double> errors =
        mean_output_error(matrix, weights, inside, fitted.scales, integers, quantized);
    fitted.bias.resize(errors.size(), 0.0);
    for (size_t o = 0; o < errors.size(); ++o) fitted.bias[o] += errors[o];
  }
  fit.errors =
      layer_errors(matrix, weights, rows, fitted.scales, integers, quantized, low, high, options_.threads);
}

}  // namespace tilewright
