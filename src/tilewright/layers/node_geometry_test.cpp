#include "tilewright/layers/node_geometry.h"

#include <gtest/gtest.h>

#include <map>

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

struct GeometryNode {
  Graph graph;
  GeometryNode(const std::string& op, const std::vector<Shape>& inputs, Attributes attributes = {},
               const std::string& domain = "") {
    std::vector<ValueId> ids;
    for (const Shape& shape : inputs) ids.push_back(graph.add_input("v", ElementType::kF32, shape));
    const ValueId y = graph.add_value("y", ElementType::kF32, {});
    graph.add_node("n", op, std::move(ids), {y}, domain).attributes = std::move(attributes);
  }
  std::optional<NodeGeometry> geometry() const { return node_geometry(graph, graph.nodes[0]); }
};

void expect_channels(const NodeGeometry& g, int64_t batch, int64_t inputs, int64_t outputs, int64_t group) {
  EXPECT_EQ(g.batch, batch);
  EXPECT_EQ(g.input_channels, inputs);
  EXPECT_EQ(g.output_channels, outputs);
  EXPECT_EQ(g.group, group);
}

TEST(NodeGeometry, ConvolutionsOfEveryNumberType) {
  const Attributes attributes = {{"group", int64_t{2}}, {"strides", Ints{2, 1}}};
  const Shape x{3, 4, 9, 8}, w{6, 2, 3, 3}, one{1};
  const std::vector<GeometryNode> nodes = {{"Conv", {x, w}, attributes},
                                           {"ConvInteger", {x, w}, attributes},
                                           {"QLinearConv", {x, one, one, w, one, one, one, one}, attributes},
                                           {"QConv", {x, w}, attributes, kTilewrightDomain},
                                           {"FixedConv", {x, w}, attributes, kTilewrightDomain}};
  for (const GeometryNode& node : nodes) {
    SCOPED_TRACE(node.graph.nodes[0].op);
    const auto geometry = node.geometry();
    ASSERT_TRUE(geometry.has_value());
    expect_channels(*geometry, 3, 4, 6, 2);
    EXPECT_FALSE(geometry->is_depthwise());
    EXPECT_EQ(geometry->window.height().stride, 2);
    EXPECT_EQ(geometry->window.height().output, 4);
    EXPECT_EQ(geometry->window.width().output, 6);
  }
}

TEST(NodeGeometry, TransposedConvolutionsMultiplyTheirGroups) {
  const GeometryNode node("ConvTranspose", {{1, 4, 5}, {4, 3, 2}},
                          {{"group", int64_t{2}}, {"strides", Ints{2}}});
  ASSERT_TRUE(node.geometry().has_value());
  expect_channels(*node.geometry(), 1, 4, 6, 2);
  EXPECT_EQ(node.geometry()->window.axes.back().output, 10);
}

TEST(NodeGeometry, DepthwiseIsOneFilterPerChannel) {
  const auto depthwise = [](int64_t outputs, int64_t group, int64_t per_group) {
    return GeometryNode("Conv", {{1, 4, 5, 5}, {outputs, per_group, 3, 3}}, {{"group", group}})
        .geometry()
        ->is_depthwise();
  };
  EXPECT_TRUE(depthwise(4, 4, 1));
  EXPECT_FALSE(depthwise(8, 4, 1));
  EXPECT_FALSE(depthwise(4, 1, 4));
}

TEST(NodeGeometry, DenseLayersAsTheirOperatorTransposesThem) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const GeometryNode node("Gemm", {a ? Shape{5, 3} : Shape{3, 5}, b ? Shape{7, 5} : Shape{5, 7}},
                              {{"transA", int64_t{a}}, {"transB", int64_t{b}}});
      ASSERT_TRUE(node.geometry().has_value());
      expect_channels(*node.geometry(), 3, 5, 7, 1);
    }
  }
  const GeometryNode own("QGemm", {{3, 5}, {7, 5}}, {}, kTilewrightDomain);
  ASSERT_TRUE(own.geometry().has_value());
  expect_channels(*own.geometry(), 3, 5, 7, 1);
  EXPECT_TRUE(own.geometry()->window.axes.empty());
  EXPECT_FALSE(GeometryNode("QGemm", {{1, 3, 5}, {7, 5}}, {}, kTilewrightDomain).geometry().has_value());
}

TEST(NodeGeometry, PoolsKeepTheirChannels) {
  const GeometryNode pool("QAveragePool", {{2, 3, 6, 8}}, {{"kernel_shape", Ints{2, 4}}}, kTilewrightDomain);
  ASSERT_TRUE(pool.geometry().has_value());
  expect_channels(*pool.geometry(), 2, 3, 3, 1);
  EXPECT_EQ(pool.geometry()->window.width().kernel, 4);
  const GeometryNode global("GlobalMaxPool", {{2, 3, 6, 8}});
  EXPECT_EQ(global.geometry()->window.height().kernel, 6);
  EXPECT_EQ(global.geometry()->window.output_elements(), 1);
}

TEST(NodeGeometry, OthersHaveNone) {
  EXPECT_FALSE(GeometryNode("Relu", {{1, 3}}).geometry().has_value());
  EXPECT_FALSE(GeometryNode("MatMul", {{3, 5}, {5, 7}}).geometry().has_value());
  EXPECT_FALSE(GeometryNode("Conv", {{1, 3, 5, 5}}).geometry().has_value());
}

}  // namespace
}  // namespace tilewright
