#include "tilewright/transform/fold/fold_constants.h"

#include <gtest/gtest.h>

#include <tuple>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

TEST(FoldConstants, RunsNodesOfConstants) {
  LayerBuilder b;
  const ValueId two = b.constant(Tensor::scalar(2.0f)), three = b.constant(Tensor::scalar(3.0f));
  const ValueId six = b.node("Mul", {two, three});
  const Graph graph = fold_constants(b.finish({b.add(b.input({2}), b.add(six, two))}));
  ASSERT_EQ(ops(graph), "Add");
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), std::vector<float>{8});
}

TEST(FoldConstants, ShapesOfValues) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 3, 4}));
  const ValueId tail = b.node("Shape", {x}, {{"start", int64_t{-2}}});
  const ValueId size = b.node("Reshape", {b.node("Size", {x}), b.integers({1})});
  const ValueId y = b.reshape(x, {6, 4});
  const ValueId dims = b.node("Concat", {tail, size}, {{"axis", int64_t{0}}});
  const Graph graph =
      fold_constants(b.finish({b.node("Tile", {y, b.integers({1, 1})}), b.node("Neg", {dims})}));
  EXPECT_EQ(ops(graph), "Relu Reshape Tile Neg");  // the last writes an output
  EXPECT_EQ(graph.value(graph.nodes[3].inputs[0]).constant->to_integers(), (std::vector<int64_t>{3, 4, 24}));
}

// ONNX Shape-15: a start or end beyond the dimensions is the nearest there is.
TEST(FoldConstants, ShapesBeyondTheDimensionsEndWithThem) {
  for (const auto& [start, end, expected] : {std::tuple{-9, 9, std::vector<int64_t>{2, 3, 4}},
                                             {-9, -2, std::vector<int64_t>{2}},
                                             {1, 9, std::vector<int64_t>{3, 4}},
                                             {2, 1, std::vector<int64_t>{}}}) {
    LayerBuilder b;
    const ValueId dims =
        b.node("Shape", {b.relu(b.input({2, 3, 4}))}, {{"start", int64_t{start}}, {"end", int64_t{end}}});
    const Graph graph = fold_constants(b.finish({b.node("Neg", {dims})}));
    EXPECT_EQ(graph.value(graph.nodes.back().inputs[0]).constant->to_integers(), expected);
  }
}

TEST(FoldConstants, LargeResultsOnlyAsWeights) {
  const FoldLimits limits{.result_bytes = 64};
  const auto fill = [](LayerBuilder& b, std::vector<int64_t> shape) {
    return b.node("ConstantOfShape", {b.integers(shape)}, {{"value", Tensor::of<float>({1}, {0.5f})}});
  };
  LayerBuilder b;
  const ValueId x = b.input({1, 8, 4, 4});
  EXPECT_EQ(ops(fold_constants(b.finish({b.node("Conv", {x, fill(b, {8, 8, 3, 3})})}), limits)), "Conv");
  LayerBuilder c;  // through a Transpose that is folded itself
  const ValueId w = c.transpose(fill(c, {64, 32}), {1, 0});
  EXPECT_EQ(ops(fold_constants(c.finish({c.node("Gemm", {c.input({1, 32}), w})}), limits)), "Gemm");
  LayerBuilder d;  // as data
  const ValueId y = d.add(d.input({8, 8}), fill(d, {8, 8}));
  EXPECT_EQ(ops(fold_constants(d.finish({y}), limits)), "ConstantOfShape Add");
  LayerBuilder e;  // small as data
  EXPECT_EQ(ops(fold_constants(e.finish({e.add(e.input({4, 4}), fill(e, {4, 4}))}), limits)), "Add");
  LayerBuilder f;  // weights of one layer and data of another node
  const ValueId both = fill(f, {32, 32});
  const ValueId z = f.node("Gemm", {f.input({32, 32}), both});
  EXPECT_EQ(ops(fold_constants(f.finish({f.add(z, both)}), limits)), "ConstantOfShape Gemm Add");
  LayerBuilder g;  // beyond the limit for weights
  const FoldLimits tight{.result_bytes = 64, .weight_bytes = 1000};
  EXPECT_EQ(ops(fold_constants(g.finish({g.node("Gemm", {g.input({1, 64}), fill(g, {64, 32})})}), tight)),
            "ConstantOfShape Gemm");
}

// A few nodes could otherwise ask for any amount of memory.
TEST(FoldConstants, AllResultsTogetherAreLimited) {
  LayerBuilder b;
  ValueId c = b.uniform({64});
  for (int k = 0; k < 20; ++k) c = b.node("Concat", {c, c}, {{"axis", int64_t{0}}});
  const ValueId y = b.add(b.input({1}), b.node("Slice", {c, b.integers({0}), b.integers({1})}));
  const Graph graph = fold_constants(b.finish({y}), {.total_bytes = 1 << 20});
  int64_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.constant ? int64_t(value.constant->size_bytes()) : 0;
  EXPECT_LE(bytes, 1 << 20);
  EXPECT_EQ(graph.nodes.front().op, "Concat");
  EXPECT_EQ(graph.nodes.back().op, "Add");
}

TEST(FoldConstants, LeavesAlone) {
  LayerBuilder b;
  const ValueId w = b.constant(Tensor::of<int8_t>({4}, {1, 2, 3, 4}));
  const ValueId dequantized = b.node("DequantizeLinear", {w, b.constant(Tensor::scalar(0.5f))});
  const ValueId output = b.node("Neg", {b.uniform({4})});
  const ValueId y = b.add(b.input({4}), dequantized);
  EXPECT_EQ(ops(fold_constants(b.finish({y, output}))), "DequantizeLinear Neg Add");
}

TEST(FoldConstants, SeveralOutputs) {
  LayerBuilder b;
  const ValueId c = b.constant(Tensor::of<float>({4}, {1, 2, 3, 4}));
  const ValueId first = b.node("Split", {c, b.integers({1, 3})}, {{"axis", int64_t{0}}}, 2);
  const Graph graph = fold_constants(b.finish({b.node("Mul", {b.add(b.input({3}), first), first + 1})}));
  ASSERT_EQ(ops(graph), "Add Mul");
  EXPECT_EQ(graph.constant_input(graph.nodes[1], 1)->to_floats(), (std::vector<float>{2, 3, 4}));
}

}  // namespace
}  // namespace tilewright
