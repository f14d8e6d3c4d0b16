#include "tilewright/layers/node_workload.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/inference/statistics.h"

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

// A graph of one node: the first input is the graph's, the others are constants; the output shape is
// inferred.
Graph one_node(const std::string& op, const std::vector<std::pair<ElementType, Shape>>& inputs,
               Attributes attributes = {}, const std::string& domain = "") {
  Graph graph;
  std::vector<ValueId> ids;
  for (const auto& [type, shape] : inputs) {
    Tensor ones(type, shape);
    for (int64_t i = 0; i < ones.size(); ++i) ones.set_number(i, 1);
    ids.push_back(ids.empty() ? graph.add_input("x", type, shape) : graph.add_constant("w", ones));
  }
  const ValueId y = graph.add_value("y", ElementType::kF32, {});
  graph.add_node("n", op, ids, {y}, domain).attributes = std::move(attributes);
  graph.outputs = {y};
  Diagnostics diagnostics;
  infer_shapes(graph, diagnostics);
  diagnostics.raise_if_any();
  return graph;
}

Workload workload_of(const Graph& graph) {
  Diagnostics refusals;
  return node_workload(graph, graph.nodes[0], refusals).value();
}

void expect_sizes(const DataSpace& space, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Rank& rank : space.ranks) sizes.push_back(rank.size);
  // Ranks of size 1 may be there for axes that the tensor does not have, and the other way round.
  const auto without_ones = [](std::vector<int64_t> all) {
    std::erase(all, 1);
    return all;
  };
  EXPECT_EQ(without_ones(sizes), without_ones(shape.dims())) << space.name;
}

void expect_workload(const Graph& graph) {
  const Node& node = graph.nodes[0];
  Diagnostics refusals;
  const auto workload = node_workload(graph, node, refusals);
  ASSERT_TRUE(workload.has_value()) << node.op;
  EXPECT_EQ(workload->operation_count(), multiply_accumulates(graph, node)) << node.op;
  expect_sizes(workload->data_spaces[kInputSpace], graph.value(node.inputs[0]).shape);
  expect_sizes(workload->data_spaces[kWeightSpace], graph.value(node.inputs[1]).shape);
  expect_sizes(workload->data_spaces[kOutputSpace], graph.value(node.outputs[0]).shape);
}

constexpr ElementType kF32 = ElementType::kF32;

TEST(NodeWorkload, ConvolutionsHaveTheirMacsAndTensors) {
  const uint64_t seed = 404;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const int64_t group = random.between(1, 3), c = random.between(1, 4), o = random.between(1, 4);
    const int64_t kh = random.between(1, 3), kw = random.between(1, 4);
    const Ints strides{random.between(1, 3), random.between(1, 3)},
        dilations{random.between(1, 2), random.between(1, 2)};
    const Ints pads{random.between(0, 1), random.between(0, 1), random.between(0, 1), random.between(0, 1)};
    const Attributes attributes{
        {"group", group}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
    const Shape x{random.between(1, 2), c * group, random.between(8, 12), random.between(9, 12)};
    expect_workload(one_node("Conv", {{kF32, x}, {kF32, {o * group, c, kh, kw}}}, attributes));
    expect_workload(one_node("ConvTranspose", {{kF32, x}, {kF32, {c * group, o, kh, kw}}}, attributes));
  }
  expect_workload(one_node("Conv", {{kF32, {1, 4, 20}}, {kF32, {6, 2, 5}}}, {{"group", int64_t{2}}}));
}

TEST(NodeWorkload, MatricesHaveTheirMacsAndTensors) {
  for (const int64_t a : {0, 1}) {
    for (const int64_t b : {0, 1}) {
      expect_workload(one_node("Gemm",
                               {{kF32, a ? Shape{5, 3} : Shape{3, 5}}, {kF32, b ? Shape{7, 5} : Shape{5, 7}}},
                               {{"transA", a}, {"transB", b}}));
    }
  }
  expect_workload(one_node("MatMul", {{kF32, {3, 5}}, {kF32, {5, 7}}}));
  expect_workload(one_node("MatMul", {{kF32, {4, 3, 5}}, {kF32, {4, 5, 7}}}));
  expect_workload(one_node("MatMul", {{kF32, {3, 5}}, {kF32, {4, 5, 7}}}));
  expect_workload(one_node("MatMul", {{kF32, {5}}, {kF32, {5, 7}}}));
  // Batches that are folded, or one dimension for two axes: the counts still agree.
  for (const auto& [x, w] : {std::pair<Shape, Shape>{{2, 4, 3, 5}, {5, 7}}, {{2, 4, 3, 5}, {2, 4, 5, 7}}}) {
    const Graph graph = one_node("MatMul", {{kF32, x}, {kF32, w}});
    EXPECT_EQ(workload_of(graph).operation_count(), 2 * 4 * 3 * 5 * 7);
  }
}

TEST(NodeWorkload, IntegerOperatorsCountTheirAccumulators) {
  const std::vector<std::pair<ElementType, Shape>> inputs{{ElementType::kI8, {1, 4, 6, 6}},
                                                          {ElementType::kI16, {8, 4, 3, 3}},
                                                          {ElementType::kI32, {8}},
                                                          {ElementType::kI32, {1}},
                                                          {ElementType::kI32, {1}}};
  const Graph graph = one_node("QConv", inputs, {}, kTilewrightDomain);
  expect_workload(graph);
  const Workload workload = workload_of(graph);
  EXPECT_EQ(workload.data_spaces[kInputSpace].bits, 8);
  EXPECT_EQ(workload.data_spaces[kWeightSpace].bits, 16);
  EXPECT_EQ(workload.data_spaces[kOutputSpace].bits, 32);
  expect_workload(
      one_node("ConvInteger", {{ElementType::kU8, {1, 4, 6, 6}}, {ElementType::kI8, {8, 4, 3, 3}}}));
}

TEST(NodeWorkload, OthersAreRefusedWithTheReason) {
  const auto reason = [](const Graph& graph) {
    Diagnostics refusals;
    EXPECT_FALSE(node_workload(graph, graph.nodes[0], refusals).has_value());
    if (refusals.errors().size() != 1) return std::string("not one reason");
    EXPECT_EQ(refusals.errors()[0].where, "node 'n'");
    EXPECT_EQ(refusals.errors()[0].kind, ErrorKind::kUnsupported);
    return refusals.errors()[0].message;
  };
  EXPECT_EQ(reason(one_node("Relu", {{kF32, {1, 2}}})), "no loop nest for this operator");
  EXPECT_EQ(reason(one_node("Conv", {{kF32, {1, 2, 4, 4, 4}}, {kF32, {2, 2, 1, 1, 1}}})),
            "no loop nest for 3 spatial axes");
  EXPECT_EQ(reason(one_node("MatMul", {{kF32, {2, 1, 3, 5}}, {kF32, {1, 4, 5, 7}}})),
            "no loop nest for batch axes that broadcast in part");
  EXPECT_EQ(reason(one_node("MatMul", {{kF32, {0, 5}}, {kF32, {5, 7}}})),
            "no loop nest over an empty tensor");
}

}  // namespace
}  // namespace tilewright
