// Collected with the rules by which the builder packs weights and parameters.
#include "tilewright/pipeline/design/network_facts.h"

#include <algorithm>
#include <bit>

#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

std::vector<LayerFacts> network_facts(const Network& network) {
  std::vector<LayerFacts> facts;
  for (const Layer& layer : network.layers) {
    LayerFacts own{accumulator_bits(network, layer), biased_sum_bits(network, layer), multiplier_bits(layer),
                   rounds_twice(layer), has_lowest_weight(layer)};
    const bool weighted = layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kDepthwise;
    if (weighted && layer.weights.empty() && network.number == NumberType::kInteger) {
      const int64_t products =
          layer.macs / std::max<int64_t>(1, network.tensors[size_t(layer.output)].shape.elements());
      const int bits = network.tensors[size_t(layer.input)].bits + layer.weight_bits - 1 +
                       int(std::bit_width(uint64_t(std::max<int64_t>(1, products))));
      own.accumulator_bits = std::clamp(bits, 2, 32);
      own.biased_sum_bits = std::min(32, bits + 1);
    }
    facts.push_back(own);
  }
  return facts;
}

}  // namespace tilewright::pipeline
