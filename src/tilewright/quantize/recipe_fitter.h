// Quantises one network by different recipes with what they share found once: plan, weights, statistics.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/quantize/network_quantizer.h"
#include "tilewright/quantize/prepared_network.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

class RecipeFitter {
 public:
  // `float_nodes`: QuantizeOptions. Errors: those of plan_quantization and calibrate, at once.
  RecipeFitter(const Graph& float_graph, const std::vector<Tensor>& samples, int threads,
               const std::vector<std::string>& float_nodes);

  // False: nothing is quantised, and there is nothing to choose.
  bool has_values() const { return !plan_.values.empty(); }
  // The network as the recipe prepares it: with factors between layers or without.
  const PreparedNetwork& network(const QuantizeOptions& recipe) { return material(recipe).network; }
  const ChannelFactors& factors(const QuantizeOptions& recipe) { return material(recipe).factors; }
  NetworkQuantizer quantizer(const QuantizeOptions& recipe);
  // recipe.calibration must be set.
  Graph quantize(const QuantizeOptions& recipe, QuantizeReport& report);
  // What a graph of that quantizer means beside the float graph.
  QuantizeReport report_of(const QuantizeOptions& recipe, const std::vector<LayerErrors>& errors);

 private:
  struct Material {
    PreparedNetwork network;
    SampleStatistics statistics;
    ChannelFactors factors;
  };
  const Material& material(const QuantizeOptions& recipe);

  const Graph graph_;  // in single precision
  const QuantizationPlan plan_;
  const std::vector<Tensor> samples_;
  const int threads_;
  std::unique_ptr<Material> as_it_is_, equalized_;
};

}  // namespace tilewright
