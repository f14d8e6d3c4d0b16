// Ratios are measured beside the float network on samples that the ranges were fitted to as well.
#include "tilewright/quantize/bit_trials.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

double noise_share(double decibels) { return std::isinf(decibels) ? 0 : std::pow(10, -decibels / 10); }

BitTrials::BitTrials(const Graph& float_graph, const std::vector<Tensor>& samples,
                     const QuantizeOptions& recipe, int64_t most_runs, Measure measure)
    : recipe_(recipe),
      fitter_(float_graph, samples, recipe.threads, recipe.float_nodes),
      meter_(float_graph, sample_runs(float_graph, samples, 0, 1, most_runs), recipe.threads) {
  if (has_values()) quantizer_.emplace(fitter_.quantizer(recipe_));
  if (measure == Measure::kOutputs) return;
  for (const Node& node : float_graph.nodes) {
    if (!node.is("Softmax")) continue;
    for (const ValueId output : float_graph.outputs) {
      if (output == node.outputs[0])
        scores_[float_graph.value(output).name] = float_graph.value(node.input(0)).name;
    }
  }
}

double BitTrials::output_db(const Graph& quantized) {
  const NetworkNoise noise = meter_.measure(quantized, fitter_.factors(recipe_));
  if (noise.outputs.empty()) return noise.values.empty() ? 0 : noise.values.back().sqnr_db;
  double share = 0;
  for (const ValueNoise& output : noise.outputs) {
    const auto score = scores_.find(output.value);
    const auto value = std::find_if(noise.values.begin(), noise.values.end(), [&](const ValueNoise& v) {
      return score != scores_.end() && v.value == score->second;
    });
    share += noise_share(value == noise.values.end() ? output.sqnr_db : value->sqnr_db);
  }
  return -10 * std::log10(std::max(share, 1e-30));
}

std::string BitTrials::fine_tuning_problem() {
  if (recipe_.weight_group > 0) return "groups of weights have factors that are not trained";
  if (recipe_.scales == ScaleKind::kPowerOfTwo) return "scales that are powers of two are not trained";
  return tilewright::fine_tuning_problem(network().graph, quantizer_->rounded(widths()));
}

Graph BitTrials::fine_tune(const BitWidths& widths, const std::vector<Tensor>& samples,
                           const std::vector<int64_t>& labels, const FineTuneOptions& options,
                           const Deadline* deadline, FineTuneResult& told) {
  told =
      tilewright::fine_tune(network().graph, quantizer_->rounded(widths), samples, labels, options, deadline);
  return quantizer_->write(told.network);
}

std::string BitTrials::layer_name(size_t layer) {
  const PreparedNetwork& own = network();
  return own.graph.nodes[size_t(own.layers[layer].op.node)].name;
}

std::string BitTrials::group_name(size_t group) {
  const QuantizationPlan& plan = network().plan;
  const size_t first =
      size_t(std::find(plan.group.begin(), plan.group.end(), int(group)) - plan.group.begin());
  return first < plan.values.size() ? network().graph.value(plan.values[first]).name : "";
}

Graph BitTrials::quantize(const BitWidths& widths, QuantizeReport& told) {
  std::vector<LayerErrors> errors;
  Graph graph = quantizer_->quantize(widths, &errors);
  const std::vector<QuantizeReport::Attempt> attempts = told.attempts;
  told = fitter_.report_of(recipe_, errors);
  told.attempts = attempts;
  told.weight_bits = mean_weight_bits(widths);
  return graph;
}

}  // namespace tilewright
