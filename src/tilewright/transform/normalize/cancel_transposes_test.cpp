#include "tilewright/transform/normalize/cancel_transposes.h"

#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/edit/permutation.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

const Permutation kToNhwc = {0, 2, 3, 1}, kToNchw = {0, 3, 1, 2};

TEST(Permutation, ComposesAndInverts) {
  EXPECT_EQ(inverse(kToNhwc), kToNchw);
  EXPECT_TRUE(is_identity(then(kToNhwc, kToNchw)));
  const Permutation p = {1, 2, 0}, q = {0, 2, 1};
  const Shape shape{2, 3, 5};
  EXPECT_EQ(permuted(permuted(shape, p), q), permuted(shape, then(p, q)));
}

TEST(Permutation, TransposesElements) {
  const Tensor t = Tensor::of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(transposed(t, {1, 0}).identical(Tensor::of<int32_t>({3, 2}, {1, 4, 2, 5, 3, 6})));
  Tensor u(ElementType::kI64, {2, 3, 4});
  for (int64_t k = 0; k < u.size(); ++k) u.set_integer(k, k);
  const Permutation p = {2, 0, 1};
  EXPECT_TRUE(transposed(transposed(u, p), inverse(p)).identical(u));
  EXPECT_EQ(transposed(u, p).integer_at(1), 4);
}

TEST(Permutation, RejectsWhatIsNone) {
  Graph graph;
  Node& node = graph.add_node("t", "Transpose", {}, {});
  node.attributes["perm"] = std::vector<int64_t>{0, 0};
  try {
    permutation_of(node, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "node 't' (Transpose): 'perm' is not a permutation of its input's 2 axes");
  }
}

TEST(CancelTransposes, AcrossElementwiseOperators) {
  LayerBuilder b;
  const ValueId x = b.conv(b.input({1, 2, 6, 6}), {});
  ValueId y = b.relu(b.transpose(x, kToNhwc));
  y = b.add(y, b.uniform({8}));
  y = b.node("Mul", {y, b.constant(Tensor::scalar(2.0f))});
  y = b.node("Clip", {y, b.constant(Tensor::scalar(0.0f)), b.constant(Tensor::scalar(6.0f))});
  const Graph graph = cancel_transposes(b.finish({b.conv(b.transpose(y, kToNchw), {})}));
  ASSERT_EQ(ops(graph), "Conv Relu Add Mul Clip Conv");
  EXPECT_EQ(graph.constant_input(*find_op(graph, "Add"), 1)->shape(), (Shape{1, 8, 1, 1}));
}

TEST(CancelTransposes, AcrossAResidualBlock) {
  LayerBuilder b;
  const ValueId x = b.transpose(b.conv(b.input({1, 2, 6, 6}), {}), kToNhwc);
  const ValueId branch = b.transpose(b.conv(b.transpose(x, kToNchw), {.kernel = 1}), kToNhwc);
  const ValueId y = b.relu(b.add(x, branch));
  EXPECT_EQ(ops(cancel_transposes(b.finish({b.conv(b.transpose(y, kToNchw), {})}))),
            "Conv Conv Add Relu Conv");
}

TEST(CancelTransposes, AcrossConcatPadSliceSplitSoftmaxAndReduction) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2, 6, 6});
  const ValueId t = b.transpose(x, kToNhwc);
  ValueId y = b.node("Concat", {t, b.transpose(b.relu(x), kToNhwc)}, {{"axis", int64_t{-1}}});
  y = b.pad(y, {0, 1, 2, 0, 0, 3, 4, 0});
  y = b.node("Slice", {y, b.integers({1, 2}), b.integers({9, 9}), b.integers({1, 2})});
  y = b.node("Softmax", {y});
  y = b.node("Split", {y, b.integers({1, 3})}, {{"axis", int64_t{3}}}, 2);
  y = b.node("ReduceMean", {y + 1}, {{"axes", std::vector<int64_t>{1, 2}}, {"keepdims", int64_t{0}}});
  const Graph graph = cancel_transposes(b.finish({y}));
  ASSERT_EQ(ops(graph), "Relu Concat Pad Slice Softmax Split ReduceMean");
  EXPECT_EQ(find_op(graph, "Concat")->int_or("axis", 0), 1);
  EXPECT_EQ(graph.constant_input(*find_op(graph, "Pad"), 1)->to_integers(),
            (std::vector<int64_t>{0, 0, 1, 2, 0, 0, 3, 4}));
  EXPECT_EQ(graph.constant_input(*find_op(graph, "Slice"), 3)->to_integers(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(find_op(graph, "Softmax")->int_or("axis", 0), 1);
  EXPECT_EQ(find_op(graph, "Split")->int_or("axis", 0), 1);
  EXPECT_EQ(find_op(graph, "ReduceMean")->ints_or("axes", {}), (std::vector<int64_t>{2, 3}));
}

TEST(CancelTransposes, AxesOfASliceKeepTheTypeOfItsStarts) {
  for (const bool has_axes : {false, true}) {
    LayerBuilder b;
    const ValueId t = b.transpose(b.input({1, 2, 6, 6}), kToNhwc);
    const auto list = [&](int32_t first, int32_t second) {
      return b.constant(Tensor::of<int32_t>({2}, {first, second}));
    };
    std::vector<ValueId> inputs = {t, list(0, 1), list(1, 3)};
    if (has_axes) inputs.push_back(list(0, 1));
    const Graph graph = cancel_transposes(b.finish({b.transpose(b.node("Slice", inputs), inverse(kToNhwc))}));
    ASSERT_EQ(ops(graph), "Slice");
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 3)->type(), ElementType::kI32);
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 3)->to_integers(), (std::vector<int64_t>{0, 2}));
  }
}

TEST(CancelTransposes, MergesNeighbours) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 3, 5}));
  const Graph graph = cancel_transposes(b.finish({b.transpose(b.transpose(x, {1, 2, 0}), {0, 2, 1})}));
  ASSERT_EQ(ops(graph), "Relu Transpose");
  EXPECT_EQ(graph.nodes[1].ints_or("perm", {}), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(output_names(graph), std::vector<std::string>{"y"});
}

TEST(CancelTransposes, ReductionThatDropsAxesKeepsTheRestInOrder) {
  LayerBuilder b;
  const ValueId x = b.transpose(b.relu(b.input({2, 3, 5, 7})), {3, 1, 2, 0});
  const ValueId y = b.node("ReduceMax", {x}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  const Graph graph = cancel_transposes(b.finish({y}));
  ASSERT_EQ(ops(graph), "Relu ReduceMax Transpose");
  EXPECT_EQ(graph.nodes[2].ints_or("perm", {}), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{7, 5, 2}));
}

TEST(CancelTransposes, StaysWhereItWouldCostMore) {
  {
    SCOPED_TRACE("different permutations");
    LayerBuilder b;
    const ValueId x = b.input({1, 4, 4, 4});
    const ValueId first = b.transpose(x, kToNhwc);
    const ValueId y = b.add(first, b.transpose(b.relu(x), {0, 3, 2, 1}));
    EXPECT_EQ(ops(cancel_transposes(b.finish({b.relu(y)}))), "Transpose Relu Transpose Add Relu");
  }
  {
    SCOPED_TRACE("only one operand is transposed");
    LayerBuilder b;
    const ValueId x = b.input({1, 4, 4, 4}), other = b.input({1, 4, 4, 4}, "z");
    EXPECT_EQ(ops(cancel_transposes(b.finish({b.add(b.transpose(x, kToNhwc), other)}))), "Transpose Add");
  }
  {
    SCOPED_TRACE("a broadcast would be transposed larger than its operands");
    LayerBuilder b;
    const ValueId x = b.input({1, 4, 1, 1});
    const ValueId y = b.node("Mul", {b.transpose(x, kToNhwc), b.uniform({1, 6, 6, 4})});
    EXPECT_EQ(ops(cancel_transposes(b.finish({y}))), "Transpose Mul");
  }
  {
    SCOPED_TRACE("two readers would need two");
    LayerBuilder b;
    const ValueId x = b.transpose(b.input({1, 4, 4, 4}), kToNhwc);
    const Graph graph = cancel_transposes(b.finish({b.relu(x), b.node("Sigmoid", {x})}));
    EXPECT_EQ(ops(graph), "Transpose Relu Sigmoid");
  }
}

// One costly place does not keep the others from improving.
TEST(CancelTransposes, ImprovesWhatItCanBesideACostlyPlace) {
  LayerBuilder b;
  const ValueId x = b.transpose(b.input({1, 4, 4, 4}), kToNhwc);
  const ValueId p = b.relu(x), q = b.node("Sigmoid", {x}), r = b.node("Tanh", {x});  // would need three
  const ValueId z = b.transpose(b.node("Abs", {b.transpose(b.input({1, 2, 4, 4}, "z"), kToNhwc)}), kToNchw);
  const Graph graph = cancel_transposes(b.finish({p, q, r, b.node("Neg", {z})}));
  EXPECT_EQ(ops(graph), "Transpose Relu Sigmoid Tanh Abs Neg");
}

}  // namespace
}  // namespace tilewright
