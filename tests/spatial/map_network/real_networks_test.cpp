// The zoo's networks as networks of loop nests, at the sizes of the papers: which layers form chains.
#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/flow/map/map.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

TEST(LayerChains, MobileNetIsOneChain) {
  const Graph graph = optimize(zoo::mobilenet_v1({0, 4}));
  const WorkloadNetwork network = network_of(graph);
  EXPECT_EQ(network.layers.size(), 28u);
  EXPECT_EQ(network.unmapped_macs(), 0);
  const auto chains = layer_chains(graph, network);
  ASSERT_FALSE(chains.empty());
  EXPECT_EQ(chains[0].size(), 27u) << "pooling ends it";
}

TEST(LayerChains, BottlenecksOfResNetAreChainsOfThree) {
  const Graph graph = optimize(zoo::resnet50({0, 8}));
  const WorkloadNetwork network = network_of(graph);
  EXPECT_EQ(network.layers.size(), 54u);
  const auto chains = layer_chains(graph, network);
  EXPECT_EQ(std::count_if(chains.begin(), chains.end(), [](const auto& chain) { return chain.size() == 3; }),
            16);
}

}  // namespace
}  // namespace tilewright
