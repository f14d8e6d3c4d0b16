// Factors between layers change weights and activations, so that a recipe with them has statistics of its
// own.
#include "tilewright/quantize/recipe_fitter.h"

#include <utility>

#include "tilewright/quantize/calibrate/single_precision.h"
#include "tilewright/quantize/equalize.h"

namespace tilewright {

RecipeFitter::RecipeFitter(const Graph& float_graph, const std::vector<Tensor>& samples, int threads,
                           const std::vector<std::string>& float_nodes)
    : graph_(to_single_precision(float_graph)),
      plan_(plan_quantization(graph_, float_nodes)),
      samples_(samples),
      threads_(threads) {
  if (!has_values()) return;
  PreparedNetwork network = prepare_network(graph_, plan_);
  SampleStatistics statistics = gather_statistics(network, samples_, threads_);
  as_it_is_ = std::make_unique<Material>(Material{std::move(network), std::move(statistics), {}});
}

const RecipeFitter::Material& RecipeFitter::material(const QuantizeOptions& recipe) {
  if (!recipe.equalize) return *as_it_is_;
  if (!equalized_) {
    Graph graph = graph_;
    ChannelFactors factors =
        equalize_channels(graph, plan_, samples_,
                          {recipe.weight_bits, recipe.activation_bits, recipe.per_channel,
                           recipe.weight_bits < 8 ? recipe.weight_group : 0, recipe.threads});
    PreparedNetwork network = prepare_network(std::move(graph), plan_);
    SampleStatistics statistics = gather_statistics(network, samples_, threads_);
    equalized_ =
        std::make_unique<Material>(Material{std::move(network), std::move(statistics), std::move(factors)});
  }
  return *equalized_;
}

NetworkQuantizer RecipeFitter::quantizer(const QuantizeOptions& recipe) {
  const Material& from = material(recipe);
  return NetworkQuantizer(from.network, from.statistics, recipe);
}

QuantizeReport RecipeFitter::report_of(const QuantizeOptions& recipe,
                                       const std::vector<LayerErrors>& errors) {
  const Material& from = material(recipe);
  QuantizeReport report;
  report.factors = from.factors;
  report.recipe = recipe;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (from.statistics.rows[i].empty()) continue;
    const WeightedOperator& op = from.network.layers[i].op;
    report.layers.push_back({graph_.nodes[size_t(op.node)].name, graph_.value(op.output).name, errors[i]});
  }
  return report;
}

Graph RecipeFitter::quantize(const QuantizeOptions& recipe, QuantizeReport& report) {
  if (!has_values()) return graph_;
  std::vector<LayerErrors> errors;
  NetworkQuantizer quantizer = this->quantizer(recipe);
  Graph graph = quantizer.quantize(chosen_widths(network(recipe), recipe), &errors);
  report = report_of(recipe, errors);
  report.weight_bits = quantizer.mean_weight_bits(chosen_widths(network(recipe), recipe));
  return graph;
}

}  // namespace tilewright
