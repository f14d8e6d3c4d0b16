#include "tilewright/graph/inference/statistics.h"

#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

int64_t macs(const std::string& op, const std::vector<Given>& inputs, Attributes attributes = {},
             const std::string& domain = "") {
  const Graph graph = single_node(op, inputs, std::move(attributes), 1, domain);
  return multiply_accumulates(graph, graph.nodes[0]);
}

TEST(Statistics, MultiplyAccumulates) {
  EXPECT_EQ(macs("Conv", {f32({1, 64, 56, 56}), f32({64, 64, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}),
            115605504);
  EXPECT_EQ(macs("Conv", {f32({1, 32, 8, 8}), f32({32, 1, 3, 3})},
                 {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}}),
            32 * 64 * 9);
  EXPECT_EQ(macs("ConvTranspose", {f32({1, 8, 4, 4}), f32({8, 3, 2, 2})}, {{"strides", Ints{2, 2}}}),
            8 * 16 * 3 * 4);
  EXPECT_EQ(macs("Gemm", {f32({5, 2}), f32({5, 3})}, {{"transA", int64_t{1}}}), 2 * 3 * 5);
  EXPECT_EQ(macs("MatMul", {f32({7, 2, 5}), f32({5, 3})}), 7 * 2 * 3 * 5);
  EXPECT_EQ(macs("MatMulInteger", {of(kU8, {2, 5}), of(kI8, {5, 3})}), 2 * 3 * 5);
  EXPECT_EQ(macs("ConvInteger", {of(kU8, {1, 1, 3, 3}), of(kI8, {4, 1, 2, 2})}), 4 * 4 * 4);
  EXPECT_EQ(macs("QLinearConv", {of(kU8, {1, 2, 3, 3}), f32({}), of(kU8, {}), of(kI8, {4, 2, 2, 2}), f32({}),
                                 of(kI8, {}), f32({}), of(kU8, {})}),
            4 * 4 * 8);
  EXPECT_EQ(macs("QLinearMatMul", {of(kU8, {2, 4}), f32({}), of(kU8, {}), of(kI8, {4, 3}), f32({}),
                                   of(kI8, {}), f32({}), of(kU8, {})}),
            24);
  EXPECT_EQ(macs("QConv", {of(kI8, {1, 2, 3, 3}), of(kI8, {4, 2, 2, 2}), of(kI32, {4}), i32s({1}), i32s({0})},
                 {}, kTilewrightDomain),
            4 * 4 * 8);
  EXPECT_EQ(macs("QConvTranspose",
                 {of(kI8, {1, 2, 3, 3}), of(kI8, {2, 4, 2, 2}), of(kI32, {4}), i32s({1}), i32s({0})}, {},
                 kTilewrightDomain),
            18 * 16);
  EXPECT_EQ(macs("QGemm", {of(kI8, {2, 5}), of(kI8, {3, 5}), of(kI32, {3}), i32s({1}), i32s({0})}, {},
                 kTilewrightDomain),
            30);
  EXPECT_EQ(macs("Relu", {f32({9})}), 0);
  EXPECT_EQ(macs("MatMul", {f32({7, 2}), f32({5, 3})}), 0);  // does not fit
  const int64_t huge = int64_t{1} << 18;
  EXPECT_EQ(macs("MatMul", {f32({huge, huge}), f32({huge, huge})}), int64_t{1} << 54);
}

TEST(Statistics, CountsBytesAndEachConstantOnce) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {2, 3});
  const ValueId w = graph.add_constant("w", Tensor(ElementType::kF32, {3, 3}));
  const ValueId y = graph.add_value("y", ElementType::kF32, {}),
                z = graph.add_value("z", ElementType::kF32, {});
  graph.add_node("a", "MatMul", {x, w}, {y});
  graph.add_node("b", "MatMul", {y, w}, {z});
  graph.outputs = {z};
  Diagnostics diagnostics;
  infer_shapes(graph, diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  const GraphStatistics found = statistics(graph);
  ASSERT_EQ(found.nodes.size(), 2u);
  EXPECT_EQ(found.nodes[1].macs, 18);
  EXPECT_EQ(found.nodes[1].parameters, 9);
  EXPECT_EQ(found.nodes[1].input_bytes, 24);
  EXPECT_EQ(found.nodes[1].output_bytes, 24);
  EXPECT_DOUBLE_EQ(found.nodes[1].operations_per_byte(), 36.0 / 84.0);
  EXPECT_EQ(found.total.macs, 36);
  EXPECT_EQ(found.total.parameters, 9);
  EXPECT_EQ(found.total.bytes(), 36 + 48 + 48);
}

TEST(Statistics, PackedTypesTakeTheirBits) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI4, {3, 3});
  graph.add_node("a", "Identity", {x}, {graph.add_value("y", ElementType::kI4, {3, 3})});
  EXPECT_EQ(statistics(graph).nodes[0].input_bytes, 5);
}

}  // namespace
}  // namespace tilewright::testing
