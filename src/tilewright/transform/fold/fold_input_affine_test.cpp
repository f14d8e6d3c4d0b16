#include "tilewright/transform/fold/fold_input_affine.h"

#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/edit/permutation.h"
#include "tilewright/transform/edit/transform_testing.h"
#include "tilewright/transform/normalize/form_depth_to_space.h"

namespace tilewright {
namespace {

TEST(FoldInputAffine, ScaleAndShiftIntoAnUnpaddedConvolution) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2, 1, 1});
  const ValueId scaled = b.node("Mul", {x, b.constant(Tensor::of<float>({2, 1, 1}, {2, 10}))});
  const ValueId shifted = b.node("Sub", {scaled, b.constant(Tensor::of<float>({2, 1, 1}, {1, 0.5f}))});
  const ValueId w = b.constant(Tensor::of<float>({1, 2, 1, 1}, {3, 4}));
  const Graph graph =
      fold_input_affine(b.finish({b.node("Conv", {shifted, w, b.constant(Tensor::of<float>({1}, {7}))})}));
  ASSERT_EQ(ops(graph), "Conv");
  // 3 (2 x0 - 1) + 4 (10 x1 - 0.5) + 7
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), (std::vector<float>{6, 40}));
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->to_floats(), (std::vector<float>{2}));
}

TEST(FoldInputAffine, GroupsSeeTheirOwnChannels) {
  LayerBuilder b;
  const ValueId x = b.input({1, 4, 1, 1});
  const ValueId scaled = b.node("Mul", {x, b.constant(Tensor::of<float>({4, 1, 1}, {2, 3, 5, 7}))});
  const ValueId w = b.constant(Tensor::of<float>({2, 2, 1, 1}, {1, 1, 1, 1}));
  const Graph graph = fold_input_affine(b.finish({b.node("Conv", {scaled, w}, {{"group", int64_t{2}}})}));
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), (std::vector<float>{2, 3, 5, 7}));
}

TEST(FoldInputAffine, GemmOfEitherOrientationWithAlpha) {
  for (const int64_t transposed : {0, 1}) {
    LayerBuilder b;
    const ValueId x = b.add(b.input({1, 2}), b.constant(Tensor::of<float>({2}, {1, 2})));
    const Shape shape = transposed ? Shape{3, 2} : Shape{2, 3};
    const ValueId w = b.constant(transposed ? Tensor::of<float>(shape, {1, 4, 2, 5, 3, 6})
                                            : Tensor::of<float>(shape, {1, 2, 3, 4, 5, 6}));
    const ValueId y = b.node("Gemm", {x, w}, {{"alpha", 10.0f}, {"transB", transposed}});
    const Graph graph = fold_input_affine(b.finish({y}));
    ASSERT_EQ(ops(graph), "Gemm");
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->to_floats(), (std::vector<float>{90, 120, 150}));
  }
}

TEST(FoldInputAffine, ScaleAloneMayMeetPadding) {
  LayerBuilder b;
  const ValueId x = b.node("Div", {b.input({1, 2, 8, 8}), b.constant(Tensor::scalar(255.0f))});
  EXPECT_EQ(ops(fold_input_affine(b.finish({b.conv(x, {.pad = 1})}))), "Conv");
  LayerBuilder c;
  const ValueId z = c.node("Mul", {c.input({1, 2, 8, 8}), c.uniform({2, 1, 1})});
  EXPECT_EQ(ops(fold_input_affine(c.finish({c.conv_transpose(z, {})}))), "ConvTranspose");
}

TEST(FoldInputAffine, DoesNotFire) {
  {
    SCOPED_TRACE("a shift meets padding");
    LayerBuilder b;
    EXPECT_EQ(ops(fold_input_affine(b.finish({b.conv(b.batch_norm(b.input({1, 2, 8, 8})), {.pad = 1})}))),
              "BatchNormalization Conv");
  }
  {
    SCOPED_TRACE("a shift meets a transposed convolution");
    LayerBuilder b;
    EXPECT_EQ(ops(fold_input_affine(b.finish({b.conv_transpose(b.batch_norm(b.input({1, 2, 8, 8})), {})}))),
              "BatchNormalization ConvTranspose");
  }
  {
    SCOPED_TRACE("two readers");
    LayerBuilder b;
    const ValueId x = b.batch_norm(b.input({1, 2, 8, 8}));
    EXPECT_EQ(ops(fold_input_affine(b.finish({b.conv(x, {}), b.relu(x)}))), "BatchNormalization Conv Relu");
  }
  {
    SCOPED_TRACE("a graph output");
    LayerBuilder b;
    const ValueId x = b.batch_norm(b.input({1, 2, 8, 8}));
    EXPECT_EQ(ops(fold_input_affine(b.finish({b.conv(x, {}), x}))), "BatchNormalization Conv");
  }
  {
    SCOPED_TRACE("transposed data");
    LayerBuilder b;
    const ValueId x = b.node("Mul", {b.input({3, 2}), b.uniform({2})});
    const ValueId y = b.node("Gemm", {x, b.uniform({3, 4})}, {{"transA", int64_t{1}}});
    EXPECT_EQ(ops(fold_input_affine(b.finish({y}))), "Mul Gemm");
  }
  {
    SCOPED_TRACE("weights not constant");
    LayerBuilder b;
    const ValueId x = b.node("Mul", {b.input({3, 2}), b.uniform({2})}), w = b.input({2, 4}, "weights");
    EXPECT_EQ(ops(fold_input_affine(b.finish({b.node("Gemm", {x, w})}))), "Mul Gemm");
  }
}

ValueId pixel_shuffle(LayerBuilder& b, ValueId x, const std::vector<int64_t>& split, const Permutation& perm,
                      const std::vector<int64_t>& out) {
  return b.reshape(b.transpose(b.reshape(x, split), perm), out);
}

TEST(FormDepthToSpace, BothOrders) {
  LayerBuilder b;
  const ValueId x = b.input({2, 12, 3, 5});
  const ValueId y = pixel_shuffle(b, x, {2, 3, 2, 2, 3, 5}, {0, 1, 4, 2, 5, 3}, {2, 3, 6, 10});
  const ValueId z = pixel_shuffle(b, x, {2, 2, 2, 3, 3, 5}, {0, 3, 4, 1, 5, 2}, {2, 3, 6, 10});
  const Graph graph = form_depth_to_space(b.finish({y, z}));
  ASSERT_EQ(ops(graph), "DepthToSpace DepthToSpace");
  EXPECT_EQ(graph.nodes[0].string_or("mode", ""), "CRD");
  EXPECT_EQ(graph.nodes[1].string_or("mode", ""), "DCR");
  EXPECT_EQ(graph.nodes[0].int_or("blocksize", 0), 2);
}

// Axes without elements: the block is that of the split, and there is none of size 0.
TEST(FormDepthToSpace, EmptyAxes) {
  const auto shuffled = [](const Shape& in, const std::vector<int64_t>& split,
                           const std::vector<int64_t>& out) {
    LayerBuilder b;
    const auto reshaped = [&](ValueId x, const std::vector<int64_t>& shape) {
      return b.node("Reshape", {x, b.integers(shape)}, {{"allowzero", int64_t{1}}});
    };
    const ValueId x = b.input(in);
    return form_depth_to_space(
        b.finish({reshaped(b.transpose(reshaped(x, split), {0, 1, 4, 2, 5, 3}), out)}));
  };
  const Graph flat = shuffled({1, 4, 0, 3}, {1, 1, 2, 2, 0, 3}, {1, 1, 0, 6});
  ASSERT_EQ(ops(flat), "DepthToSpace");
  EXPECT_EQ(flat.nodes[0].int_or("blocksize", 0), 2);
  EXPECT_EQ(find_op(shuffled({1, 0, 2, 3}, {1, 1, 0, 0, 2, 3}, {1, 1, 0, 0}), "DepthToSpace"), nullptr);
}

TEST(FormDepthToSpace, DoesNotFire) {
  LayerBuilder b;
  const ValueId x = b.input({2, 12, 3, 5});
  const ValueId other_order = pixel_shuffle(b, x, {2, 3, 2, 2, 3, 5}, {0, 1, 4, 3, 5, 2}, {2, 3, 6, 10});
  const ValueId not_square = pixel_shuffle(b, x, {2, 3, 4, 1, 3, 5}, {0, 1, 4, 2, 5, 3}, {2, 3, 12, 5});
  const ValueId other_shape = pixel_shuffle(b, x, {2, 3, 2, 2, 3, 5}, {0, 1, 4, 2, 5, 3}, {2, 3, 10, 6});
  const ValueId split = b.reshape(x, {2, 3, 2, 2, 3, 5});
  const ValueId read_twice = b.reshape(b.transpose(split, {0, 1, 4, 2, 5, 3}), {2, 3, 6, 10});
  const Graph graph =
      form_depth_to_space(b.finish({other_order, not_square, other_shape, read_twice, b.relu(split)}));
  EXPECT_EQ(find_op(graph, "DepthToSpace"), nullptr);
}

}  // namespace
}  // namespace tilewright
