// Models as networks of loop nests: what is a layer, how the batch grows, which layers form chains.
#include "tilewright/flow/map/map.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// conv1 - Relu - conv2 - MaxPool - conv3 - (conv4, conv5 both read it) - Add
Graph small_model() {
  Graph graph;
  graph.name = "small";
  const auto conv = [&](const std::string& name, ValueId x, const std::string& output) {
    const ValueId w = graph.add_constant(name + "_w", Tensor(ElementType::kF32, {4, 4, 1, 1}));
    const ValueId y = graph.add_value(output, ElementType::kF32, graph.value(x).shape);
    graph.add_node(name, "Conv", {x, w}, {y});
    return y;
  };
  const ValueId x = graph.add_input("x", ElementType::kF32, {2, 4, 6, 6});
  const ValueId a = conv("conv1", x, "a");
  const ValueId b = graph.add_value("b", ElementType::kF32, {2, 4, 6, 6});
  graph.add_node("relu", "Relu", {a}, {b});
  const ValueId c = conv("conv2", b, "c");
  const ValueId d = graph.add_value("d", ElementType::kF32, {2, 4, 6, 6});
  Node& pool = graph.add_node("pool", "MaxPool", {c}, {d});
  pool.attributes["kernel_shape"] = std::vector<int64_t>{1, 1};
  const ValueId e = conv("conv3", d, "e");
  const ValueId f = conv("conv4", e, "f"), g = conv("conv5", e, "g");
  const ValueId h = graph.add_value("h", ElementType::kF32, {2, 4, 6, 6});
  graph.add_node("add", "Add", {f, g}, {h});
  graph.outputs = {h};
  return graph;
}

TEST(NetworkOf, EveryConvolutionIsALayerAndEqualOnesShareAShape) {
  const WorkloadNetwork network = network_of(small_model());
  EXPECT_EQ(network.layers.size(), 5u);
  EXPECT_EQ(network.shapes.size(), 1u);
  EXPECT_EQ(network.other_nodes, 3);
  EXPECT_TRUE(network.unmapped.empty());
  EXPECT_EQ(network.mapped_macs(), 5 * 2 * 4 * 4 * 6 * 6);
}

TEST(NetworkOf, TheBatchIsThatOfTheWholeRun) {
  EXPECT_EQ(network_of(small_model(), 6).mapped_macs(), 3 * network_of(small_model()).mapped_macs());
  EXPECT_THROW(network_of(small_model(), 3), Error) << "no multiple of the model's two images";
}

TEST(LayerChains, EndWhereDataForksOrIsPooled) {
  const Graph graph = small_model();
  const WorkloadNetwork network = network_of(graph);
  EXPECT_EQ(layer_chains(graph, network), (std::vector<std::vector<int>>{{0, 1}}));
}

}  // namespace
}  // namespace tilewright
