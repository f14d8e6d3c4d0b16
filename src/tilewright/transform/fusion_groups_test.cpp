#include "tilewright/transform/fusion_groups.h"

#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"

namespace tilewright {
namespace {

std::vector<std::string> fused(const Graph& graph) {
  std::vector<std::string> names;
  for (const FusionGroup& group : fusion_groups(graph)) {
    names.push_back(graph.nodes[size_t(group.nodes.front())].name + ": " + pattern(graph, group));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(FusionGroups, LayerResidualActivationPool) {
  LayerBuilder b;
  const ValueId x = b.relu(b.conv(b.input({1, 8, 8, 8}), {.pad = 1}));
  const ValueId y = b.relu(b.add(b.batch_norm(b.conv(x, {.pad = 1})), x));
  const ValueId z = b.pool(y, "MaxPool", 2, 2);
  EXPECT_EQ(fused(b.finish({b.conv(z, {})})),
            (Names{"Conv: Conv + Relu", "Conv_1: Conv + BatchNormalization + Add + Relu + MaxPool",
                   "Conv_2: Conv"}));
}

TEST(FusionGroups, OneBranchTakesTheResidualAdd) {
  LayerBuilder b;
  const ValueId x = b.input({1, 8, 8, 8});
  const ValueId p = b.conv(x, {}), q = b.conv(x, {});
  EXPECT_EQ(fused(b.finish({b.relu(b.add(p, q))})), (Names{"Conv: Conv + Add + Relu", "Conv_1: Conv"}));
}

TEST(FusionGroups, SecondReaderAndGraphOutputEndAGroup) {
  LayerBuilder b;
  const ValueId x = b.conv(b.input({1, 8, 8, 8}), {});
  const ValueId y = b.conv(x, {});
  EXPECT_EQ(fused(b.finish({b.relu(x), b.relu(y), y})),
            (Names{"Conv: Conv", "Conv_1: Conv", "Relu: Relu", "Relu_1: Relu"}));
}

TEST(FusionGroups, NoSecondActivationOrAddOfItself) {
  LayerBuilder b;
  const ValueId x = b.relu(b.node("Sigmoid", {b.conv(b.input({1, 8, 8, 8}), {})}));
  const ValueId y = b.conv(x, {});
  EXPECT_EQ(fused(b.finish({b.add(y, y)})),
            (Names{"Conv: Conv + Sigmoid", "Relu: Relu", "Conv_1: Conv", "Add: Add"}));
}

TEST(FusionGroups, EveryNodeOnce) {
  LayerBuilder b;
  ValueId x = b.input({1, 4, 8, 8});
  for (int k = 0; k < 5; ++k) x = b.relu(b.add(b.conv(x, {.channels = 4, .pad = 1}), x));
  const Graph graph = b.finish({x});
  std::vector<int> seen(graph.nodes.size(), 0);
  for (const FusionGroup& group : fusion_groups(graph)) {
    for (const NodeId id : group.nodes) ++seen[size_t(id)];
  }
  EXPECT_EQ(seen, std::vector<int>(graph.nodes.size(), 1));
}

TEST(Traffic, CountsWhatCrossesGroups) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2, 4, 4});                                   // 128 bytes
  const ValueId y = b.conv(x, {.channels = 3, .kernel = 1, .bias = false});  // weights 24, out 192
  const Graph graph = b.finish({b.node("Flatten", {b.relu(y)}, {{"axis", int64_t{1}}})});
  const GroupTraffic alone = traffic(graph, unfused_groups(graph)),
                     grouped = traffic(graph, fusion_groups(graph));
  EXPECT_EQ(alone.activations, 128 + 192 + 192 + 192);
  EXPECT_EQ(alone.constants, 24);
  EXPECT_EQ(grouped.activations, 128 + 192);
  EXPECT_EQ(grouped.bytes(), 128 + 24 + 192);
}

}  // namespace
}  // namespace tilewright
