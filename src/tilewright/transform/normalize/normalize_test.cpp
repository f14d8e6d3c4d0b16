// The passes that give operators one form.
#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"
#include "tilewright/transform/normalize/form_gemm.h"
#include "tilewright/transform/normalize/merge_duplicates.h"
#include "tilewright/transform/normalize/normalize_pooling.h"
#include "tilewright/transform/normalize/normalize_reshapes.h"
#include "tilewright/transform/normalize/normalize_sums.h"

namespace tilewright {
namespace {

TEST(NormalizeSums, SumBecomesAdds) {
  LayerBuilder b;
  const ValueId x = b.input({2, 3}), y = b.input({1, 3}, "u"), z = b.input({3}, "v");
  const Graph graph = normalize_sums(b.finish({b.node("Sum", {z, y, x})}));
  ASSERT_EQ(ops(graph), "Add Add");
  EXPECT_EQ(graph.value(graph.nodes[0].outputs[0]).shape, (Shape{1, 3}));
  EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[0].outputs[0]);
  EXPECT_EQ(output_names(graph), std::vector<std::string>{"y"});
}

TEST(NormalizeSums, SubOfAConstantAndOperandOrder) {
  LayerBuilder b;
  const ValueId x = b.input({2});
  const ValueId y = b.node("Sub", {x, b.constant(Tensor::of<float>({2}, {1, -2}))});
  const ValueId z = b.node("Mul", {b.uniform({2}), y});
  const Graph graph = normalize_sums(b.finish({z}));
  ASSERT_EQ(ops(graph), "Add Mul");
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), (std::vector<float>{-1, 2}));
  EXPECT_NE(graph.constant_input(graph.nodes[1], 1), nullptr);
}

TEST(NormalizeSums, ConstantMinusValueStays) {
  LayerBuilder b;
  const ValueId x = b.input({2});
  EXPECT_EQ(ops(normalize_sums(b.finish({b.node("Sub", {b.uniform({2}), x})}))), "Sub");
  LayerBuilder c;
  EXPECT_EQ(ops(normalize_sums(c.finish({c.node("Sum", {c.input({2})})}))), "Sum");
}

TEST(FormGemm, MatMulAndBias) {
  for (const Shape& shape : {Shape{5}, Shape{1, 5}, Shape{1}, Shape{}}) {
    LayerBuilder b;
    const ValueId y = b.node("MatMul", {b.input({3, 4}), b.uniform({4, 5})});
    const Graph graph = form_gemm(b.finish({b.add(b.uniform(shape), y)}));
    ASSERT_EQ(ops(graph), "Gemm") << to_string(shape);
    EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->shape(), (Shape{5}));
  }
}

TEST(FormGemm, TheFactorOfAMissingBiasIsNotTheSums) {
  LayerBuilder b;
  const ValueId x = b.input({3, 4}), w = b.uniform({4, 5});
  const ValueId y = b.node("Gemm", {x, w}, {{"alpha", 0.5f}, {"beta", 0.0f}});
  const Graph before = b.finish({b.add(y, b.uniform({5}, 1, 2))}), after = form_gemm(before);
  ASSERT_EQ(ops(after), "Gemm");
  const Tensor input(ElementType::kF32, Shape{3, 4});  // zeros: what is left is the bias
  EXPECT_TRUE(Executor(after).run({input})[0].identical(Executor(before).run({input})[0]));
}

TEST(FormGemm, WithoutBias) {
  LayerBuilder b;
  const ValueId y = b.node("MatMul", {b.input({3, 4}), b.uniform({4, 5})});
  EXPECT_EQ(ops(form_gemm(b.finish({y, b.add(y, b.uniform({5}))}))), "Gemm Add");
}

TEST(FormGemm, DoesNotFire) {
  LayerBuilder b;
  const ValueId x = b.input({3, 4}), w = b.input({4, 5}, "w"), deep = b.input({2, 3, 4}, "deep");
  const ValueId dynamic = b.node("MatMul", {x, w});                     // weights not constant
  const ValueId batched = b.node("MatMul", {deep, b.uniform({4, 5})});  // rank 3
  const ValueId product = b.node("MatMul", {x, b.uniform({4, 5})});     // Gemm, but
  const ValueId rows = b.add(product, b.uniform({3, 1}));               // this is no column bias
  EXPECT_EQ(ops(form_gemm(b.finish({dynamic, batched, rows}))), "MatMul MatMul Gemm Add");
}

TEST(NormalizeReshapes, FlattenAndChains) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 3, 4, 1}));
  const ValueId flat = b.reshape(x, {2, -1});
  const ValueId squeezed = b.node("Squeeze", {b.node("Unsqueeze", {x, b.integers({0})}), b.integers({0, 4})});
  const ValueId other = b.reshape(b.reshape(b.reshape(x, {24}), {6, 4}), {2, 3, 4, 1});
  const Graph graph = normalize_reshapes(b.finish({flat, squeezed, b.relu(other)}));
  EXPECT_EQ(ops(graph), "Relu Flatten Reshape Reshape Relu");
  EXPECT_EQ(find_op(graph, "Flatten")->int_or("axis", 0), 1);
  EXPECT_EQ(graph.constant_input(*find_op(graph, "Reshape"), 1)->to_integers(),
            (std::vector<int64_t>{2, 3, 4}));
}

TEST(NormalizeReshapes, TransposeOfSingleElementAxes) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({1, 5, 1, 1}));
  EXPECT_EQ(ops(normalize_reshapes(b.finish({b.transpose(x, {0, 2, 3, 1})}))), "Relu Reshape");
  LayerBuilder c;
  const ValueId z = c.relu(c.input({1, 5, 2, 1}));
  EXPECT_EQ(ops(normalize_reshapes(c.finish({c.transpose(z, {0, 2, 3, 1})}))), "Relu Transpose");
}

TEST(NormalizeReshapes, MiddleValueWithAnotherReaderStays) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 6}));
  const ValueId middle = b.reshape(x, {12});
  const Graph graph = normalize_reshapes(b.finish({b.relu(middle), b.reshape(middle, {3, 4})}));
  EXPECT_EQ(ops(graph), "Relu Reshape Relu Reshape");
  EXPECT_EQ(graph.nodes[3].inputs[0], graph.nodes[0].outputs[0]);
}

TEST(NormalizeReshapes, LeavesNormalNodesAlone) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 6}));
  Graph graph = b.finish({b.reshape(x, {3, 4})});
  const size_t values = graph.values.size();
  const std::string name = graph.value(graph.nodes[1].inputs[1]).name;
  graph = normalize_reshapes(std::move(graph));
  EXPECT_EQ(graph.values.size(), values);
  EXPECT_EQ(graph.value(graph.nodes[1].inputs[1]).name, name);
}

TEST(NormalizePooling, OneFormForWholeMaps) {
  LayerBuilder b;
  const ValueId x = b.input({2, 3, 4, 4});
  const Attributes kept = {{"axes", std::vector<int64_t>{-1, 2}}};
  const Attributes dropped = {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}};
  const Graph graph =
      normalize_pooling(b.finish({b.node("ReduceMean", {x}, kept), b.node("ReduceMax", {x}, dropped),
                                  b.pool(x, "AveragePool", 4, 1), b.pool(x, "MaxPool", 4, 3)}));
  EXPECT_EQ(ops(graph), "GlobalAveragePool GlobalMaxPool GlobalAveragePool GlobalMaxPool Flatten");
  EXPECT_EQ(output_names(graph), (std::vector<std::string>{"y", "y_1", "y_2", "y_3"}));
  EXPECT_EQ(graph.value(graph.outputs[1]).shape, (Shape{2, 3}));
}

TEST(NormalizePooling, DoesNotFire) {
  LayerBuilder b;
  const ValueId x = b.input({2, 3, 4, 4});
  const auto reduce = [&](std::vector<int64_t> axes) { return b.node("ReduceMean", {x}, {{"axes", axes}}); };
  const Graph graph = normalize_pooling(
      b.finish({reduce({1, 2}), reduce({3}), b.pool(x, "AveragePool", 3, 1), b.pool(x, "MaxPool", 4, 8, 1)}));
  EXPECT_EQ(ops(graph), "ReduceMean ReduceMean AveragePool MaxPool");
}

TEST(NormalizePooling, IntegersStayAPool) {  // ONNX has GlobalMaxPool for floats only
  LayerBuilder b;
  const ValueId x = b.node("QuantizeLinear", {b.input({2, 3, 4, 4}), b.constant(Tensor::scalar(0.5f)),
                                              b.constant(Tensor::scalar(int8_t(0)))});
  const Graph graph = normalize_pooling(b.finish({b.pool(x, "MaxPool", 4, 1)}));
  EXPECT_EQ(ops(graph), "QuantizeLinear MaxPool");
}

TEST(NormalizePooling, PaddingThatDoesNotCount) {
  const auto after = [](const char* op, int64_t count_include_pad) {
    LayerBuilder b;
    Attributes attributes = {{"kernel_shape", std::vector<int64_t>{5, 5}},
                             {"pads", std::vector<int64_t>{0, 0, 1, 1}}};
    if (op == std::string("AveragePool")) attributes["count_include_pad"] = count_include_pad;
    return ops(normalize_pooling(b.finish({b.node(op, {b.input({2, 3, 4, 4})}, attributes)})));
  };
  EXPECT_EQ(after("AveragePool", 0), "GlobalAveragePool");
  EXPECT_EQ(after("AveragePool", 1), "AveragePool");
  EXPECT_EQ(after("MaxPool", 0), "GlobalMaxPool");
}

TEST(MergeDuplicates, ConstantsAndNodes) {
  LayerBuilder b;
  const ValueId x = b.input({2, 2});
  const auto constant = [&] { return b.constant(Tensor::of<float>({2}, {1, 2})); };
  const ValueId p = b.add(x, constant()), q = b.add(x, constant());
  const Graph graph = merge_duplicates(b.finish({b.node("Mul", {b.relu(p), b.relu(q)})}));
  EXPECT_EQ(ops(graph), "Add Relu Mul");
  EXPECT_EQ(graph.nodes[2].inputs[0], graph.nodes[2].inputs[1]);
}

TEST(MergeDuplicates, KeepsWhatDiffers) {
  LayerBuilder b;
  const ValueId x = b.input({2, 2});
  const ValueId zero = b.add(x, b.constant(Tensor::of<float>({1}, {0.0f})));
  const ValueId minus_zero = b.add(x, b.constant(Tensor::of<float>({1}, {-0.0f})));
  const ValueId integer = b.node("Cast", {b.constant(Tensor::of<int32_t>({1}, {0}))}, {{"to", int64_t{1}}});
  const ValueId a = b.node("LeakyRelu", {zero}, {{"alpha", 0.1f}});
  const ValueId c = b.node("LeakyRelu", {zero}, {{"alpha", 0.2f}});
  const ValueId random_a = b.node("Concat", {a, c}, {{"axis", int64_t{0}}});
  const ValueId random_b = b.node("Concat", {a, c}, {{"axis", int64_t{1}}});
  const Graph graph = merge_duplicates(b.finish({random_a, random_b, minus_zero, integer}));
  EXPECT_EQ(ops(graph), "Add Add Cast LeakyRelu LeakyRelu Concat Concat");
}

TEST(MergeDuplicates, LayersStay) {
  LayerBuilder b;
  const ValueId x = b.input({2, 2}), w = b.uniform({2, 2});
  const ValueId y = b.add(b.node("Gemm", {x, w}), b.node("Gemm", {x, w}));
  EXPECT_EQ(ops(merge_duplicates(b.finish({y}))), "Gemm Gemm Add");
}

TEST(MergeDuplicates, OutputsStay) {
  LayerBuilder b;
  const ValueId x = b.input({2, 2});
  const ValueId p = b.relu(x), q = b.relu(x);
  EXPECT_EQ(ops(merge_duplicates(b.finish({p, q}))), "Relu Relu");
}

}  // namespace
}  // namespace tilewright
