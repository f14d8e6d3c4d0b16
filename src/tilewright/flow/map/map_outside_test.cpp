// A model of others as a network of loop nests: which layers form chains.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/outside_testing.h"
#include "tilewright/flow/map/map.h"
#include "tilewright/flow/model/load_model.h"

namespace tilewright {
namespace {

TEST(LayerChains, BlocksOfMobileNetAreChainsOfThree) {
  const std::string path = outside_models().string() + "/onnx_shape_only/mobilenetv2_noweights.onnx";
  LoadOptions options;
  options.allow_missing_weights = true;
  const Graph graph = load_model(path, options);
  const WorkloadNetwork network = network_of(graph);
  const auto chains = layer_chains(graph, network);
  EXPECT_EQ(network.layers.size(), 53u);
  EXPECT_EQ(network.unmapped_macs(), 0);
  const auto triples =
      std::count_if(chains.begin(), chains.end(), [](const auto& chain) { return chain.size() == 3; });
  EXPECT_GE(triples, 10);
}

}  // namespace
}  // namespace tilewright
