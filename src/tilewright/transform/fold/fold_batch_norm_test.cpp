#include "tilewright/transform/fold/fold_batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

TEST(FoldBatchNorm, ScalesWeightsAndBiasPerChannel) {
  LayerBuilder b;
  const ValueId x = b.input({1, 1, 1, 1});
  const ValueId w = b.constant(Tensor::of<float>({2, 1, 1, 1}, {3, 5}));
  const ValueId bias = b.constant(Tensor::of<float>({2}, {1, 2}));
  const auto vector = [&](float c0, float c1) { return b.constant(Tensor::of<float>({2}, {c0, c1})); };
  const ValueId y =
      b.node("BatchNormalization",
             {b.node("Conv", {x, w, bias}), vector(2, 4), vector(10, 20), vector(1, -1), vector(3, 15)},
             {{"epsilon", 1.0f}});
  const Graph graph = fold_batch_norm(b.finish({y}));
  ASSERT_EQ(ops(graph), "Conv");
  EXPECT_EQ(output_names(graph), std::vector<std::string>{"y"});
  // scale = 2 / sqrt(4) = 1, 4 / sqrt(16) = 1; shift = 10 - 1, 20 + 1.
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), (std::vector<float>{3, 5}));
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->to_floats(), (std::vector<float>{10, 23}));
}

TEST(FoldBatchNorm, GroupedTransposedConvolutionScalesItsOutputChannels) {
  LayerBuilder b;
  const ValueId x = b.input({1, 4, 1, 1});
  // C=4, group 2, O/group = 2: rows 0 and 1 belong to group 0, whose outputs are channels 0 and 1.
  const ValueId w = b.constant(Tensor::of<float>({4, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}));
  const ValueId y = b.node("ConvTranspose", {x, w}, {{"group", int64_t{2}}});
  const ValueId z = b.node("Mul", {y, b.constant(Tensor::of<float>({4, 1, 1}, {2, 3, 5, 7}))});
  const Graph graph = fold_batch_norm(b.finish({z}));
  ASSERT_EQ(ops(graph), "ConvTranspose");
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(),
            (std::vector<float>{2, 3, 2, 3, 5, 7, 5, 7}));
}

TEST(FoldBatchNorm, GemmOfEitherOrientationWithBeta) {
  for (const int64_t transposed : {0, 1}) {
    LayerBuilder b;
    const ValueId x = b.input({1, 3});
    const Shape shape = transposed ? Shape{2, 3} : Shape{3, 2};
    const ValueId w = b.constant(Tensor::of<float>(shape, {1, 1, 1, 1, 1, 1}));
    const ValueId bias = b.constant(Tensor::of<float>({1, 2}, {10, 20}));
    const ValueId y = b.node("Gemm", {x, w, bias}, {{"transB", transposed}, {"beta", 0.5f}, {"alpha", 3.0f}});
    const ValueId z = b.node("Div", {y, b.constant(Tensor::of<float>({2}, {0.5f, 0.25f}))});
    const Graph graph = fold_batch_norm(b.finish({z}));
    ASSERT_EQ(ops(graph), "Gemm");
    const std::vector<float> expected =
        transposed ? std::vector<float>{2, 2, 2, 4, 4, 4} : std::vector<float>{2, 4, 2, 4, 2, 4};
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), expected);
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->to_floats(), (std::vector<float>{10, 40}));
    EXPECT_EQ(graph.nodes[0].float_or("beta", 1), 1);
    EXPECT_EQ(graph.nodes[0].float_or("alpha", 1), 3);
  }
}

TEST(FoldBatchNorm, AChainFoldsCompletely) {
  LayerBuilder b;
  ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
  y = b.node("Mul", {b.constant(Tensor::scalar(2.0f)), y});
  y = b.node("Sub", {b.uniform({8, 1, 1}), y});
  y = b.batch_norm(b.add(y, b.uniform({1, 8, 1, 1})));
  EXPECT_EQ(ops(fold_batch_norm(b.finish({b.relu(y)}))), "Conv Relu");
}

// The scales of dequantised weights take those of the batch normalisation, their integers its signs.
TEST(FoldBatchNorm, DequantisedWeightsStayIntegers) {
  LayerBuilder b;
  const ValueId integers = b.constant(Tensor::of<int8_t>({2, 3, 1, 1}, {1, -2, 3, 4, 5, -6}));
  const ValueId zero = b.constant(Tensor::scalar<int8_t>(0));
  const ValueId w = b.node("DequantizeLinear", {integers, b.constant(Tensor::scalar(0.25f)), zero});
  const ValueId conv = b.node("Conv", {b.input({1, 3, 2, 2}), w});
  const ValueId y = b.node("Mul", {conv, b.constant(Tensor::of<float>({2, 1, 1}, {-2, 1e-40f}))});
  const Graph graph = b.finish({y});
  const Graph folded = fold_batch_norm(graph);
  EXPECT_EQ(ops(folded), "DequantizeLinear Conv");
  const Node& dequantize = folded.nodes[0];
  EXPECT_EQ(folded.constant_input(dequantize, 0)->to_integers(), (std::vector<int64_t>{-1, 2, -3, 0, 0, 0}));
  EXPECT_EQ(folded.constant_input(dequantize, 1)->to_floats(), (std::vector<float>{0.5f, 0.25f}));
  const Tensor x = Tensor::of<float>({1, 3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::vector<float> before = run(graph, {x})[0].to_floats(), after = run(folded, {x})[0].to_floats();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-5);
}

TEST(FoldBatchNorm, DequantisedWeightsThatCannotBeNegatedStay) {
  LayerBuilder b;
  const ValueId integers = b.constant(Tensor::of<int8_t>({1, 2, 1, 1}, {-128, 1}));
  const ValueId zero = b.constant(Tensor::scalar<int8_t>(0));
  const ValueId w = b.node("DequantizeLinear", {integers, b.constant(Tensor::scalar(0.25f)), zero});
  const ValueId conv = b.node("Conv", {b.input({1, 2, 2, 2}), w});
  const ValueId y = b.node("Mul", {conv, b.constant(Tensor::of<float>({1, 1, 1}, {-2}))});
  EXPECT_EQ(ops(fold_batch_norm(b.finish({y}))), "DequantizeLinear Conv Mul");
}

// FINN's exports normalise N x C sums as N x C x 1.
TEST(FoldBatchNorm, FoldsThroughFurtherAxesOfOne) {
  LayerBuilder b;
  const ValueId dense = b.node("Gemm", {b.input({2, 4}), b.uniform({4, 3}), b.uniform({3})});
  const ValueId axes = b.node("Unsqueeze", {dense, b.constant(Tensor::of<int64_t>({1}, {2}))});
  const ValueId y = b.node("BatchNormalization", {axes, b.uniform({3}), b.uniform({3}), b.uniform({3}),
                                                  b.constant(Tensor::of<float>({3}, {1, 2, 0.5f}))});
  const Graph graph = b.finish({y});
  const Graph folded = fold_batch_norm(graph);
  EXPECT_EQ(ops(folded), "Gemm Reshape");
  const Tensor x = Tensor::of<float>({2, 4}, {1, -2, 0.5f, 3, 0, 1, 2, -1});
  const std::vector<float> before = run(graph, {x})[0].to_floats(), after = run(folded, {x})[0].to_floats();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-5);
}

TEST(FoldBatchNorm, SharedWeightsAreCopied) {
  LayerBuilder b;
  const ValueId x = b.input({1, 1, 2, 2});
  const ValueId w = b.constant(Tensor::of<float>({1, 1, 1, 1}, {3}));
  const ValueId a = b.node("Mul", {b.node("Conv", {x, w}), b.constant(Tensor::scalar(2.0f))});
  const ValueId c = b.node("Conv", {x, w});
  const Graph graph = fold_batch_norm(b.finish({a, c}));
  ASSERT_EQ(ops(graph), "Conv Conv");
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), std::vector<float>{6});
  EXPECT_EQ(graph.constant_input(graph.nodes[1], 1)->to_floats(), std::vector<float>{3});
}

// Each of these keeps both nodes.
TEST(FoldBatchNorm, DoesNotFire) {
  {
    SCOPED_TRACE("two readers");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.batch_norm(y), b.relu(y)}))), "Conv BatchNormalization Relu");
  }
  {
    SCOPED_TRACE("graph output");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.batch_norm(y), y}))), "Conv BatchNormalization");
  }
  {
    SCOPED_TRACE("weights not constant");
    LayerBuilder b;
    const ValueId x = b.input({1, 2, 4, 4}), w = b.input({3, 2, 1, 1}, "weights");
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.batch_norm(b.node("Conv", {x, w}))}))),
              "Conv BatchNormalization");
  }
  {
    SCOPED_TRACE("bias not constant");
    LayerBuilder b;
    const ValueId x = b.input({1, 2, 4, 4}), bias = b.input({3}, "bias");
    const ValueId y = b.node("Conv", {x, b.uniform({3, 2, 1, 1}), bias});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.batch_norm(y)}))), "Conv BatchNormalization");
  }
  {
    SCOPED_TRACE("parameter not constant");
    LayerBuilder b;
    const ValueId scale = b.input({8}, "scale");
    const ValueId y = b.node("BatchNormalization", {b.conv(b.input({1, 2, 4, 4}), {}), scale, b.uniform({8}),
                                                    b.uniform({8}), b.uniform({8}, 1, 2)});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({y}))), "Conv BatchNormalization");
  }
  {
    SCOPED_TRACE("wrong axis: the constant varies along the width");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 10, 10}), {});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.node("Mul", {y, b.uniform({8})})}))), "Conv Mul");
  }
  {
    SCOPED_TRACE("the constant enlarges the result");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.add(y, b.uniform({3, 8, 1, 1}))}))), "Conv Add");
    LayerBuilder c;
    const ValueId z = c.conv(c.input({1, 2, 4, 4}), {.channels = 1});
    EXPECT_EQ(ops(fold_batch_norm(c.finish({c.add(z, c.uniform({5, 1, 1}))}))), "Conv Add");
  }
  {
    SCOPED_TRACE("a constant divided by the layer");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.node("Div", {b.uniform({8, 1, 1}), y})}))), "Conv Div");
  }
  {
    SCOPED_TRACE("not finite");
    LayerBuilder b;
    const ValueId y = b.conv(b.input({1, 2, 4, 4}), {});
    const ValueId z = b.node("Div", {y, b.constant(Tensor::scalar(0.0f))});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({z}))), "Conv Div");
  }
  {
    SCOPED_TRACE("training form");
    LayerBuilder b;
    const ValueId y = b.batch_norm(b.conv(b.input({1, 2, 4, 4}), {}));
    Graph graph = b.finish({y});
    graph.nodes[1].attributes["training_mode"] = int64_t{1};
    EXPECT_EQ(ops(fold_batch_norm(graph)), "Conv BatchNormalization");
  }
  {
    SCOPED_TRACE("row bias of a Gemm");
    LayerBuilder b;
    const ValueId x = b.input({3, 4});
    const ValueId y = b.node("Gemm", {x, b.uniform({4, 2}), b.uniform({3, 1})});
    EXPECT_EQ(ops(fold_batch_norm(b.finish({b.node("Mul", {y, b.uniform({2})})}))), "Gemm Mul");
  }
}

}  // namespace
}  // namespace tilewright
