#include "tilewright/quantize/integerize/integerize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/quantize/qdq_testing.h"

namespace tilewright {
namespace {

std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

using Names = std::vector<std::string>;

const IntegerizeRecord& record_of(const IntegerizeReport& report, const std::string& op) {
  const auto found = std::find_if(report.records.begin(), report.records.end(),
                                  [&](const IntegerizeRecord& record) { return record.op == op; });
  if (found == report.records.end()) throw Error(ErrorKind::kInvalidInput, "no record of " + op);
  return *found;
}

// input -> QuantizeLinear(u8) -> Conv(per channel) -> Clip(0, 6) -> QuantizeLinear(u8).
struct SmallConvolution : QdqGraphBuilder {
  ValueId x = graph.add_input("x", ElementType::kF32, {1, 1, 3, 3});
  Quantization in{0.5f, 3}, out{0.25f, 0};
  Tensor weights = Tensor::of<int8_t>({2, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9,  //
                                                     -1, -2, -3, -4, -5, -6, -7, -8, -9});
  Tensor bias = Tensor::of<int32_t>({2}, {100, -100});
  std::vector<float> bias_scales = {0.25f, 0.0625f};

  ValueId convolution(Attributes attributes = {}) {
    attributes.insert({"pads", std::vector<int64_t>{1, 1, 1, 1}});
    return node("Conv",
                {rounded(x, in, ElementType::kU8), constant(weights, {0.5f, 0.125f}, {0, 0}),
                 constant(bias, bias_scales, {0, 0})},
                {1, 2, 3, 3}, attributes);
  }
  ValueId clipped(ValueId v) {
    return node("Clip",
                {v, graph.add_constant("low", Tensor::scalar(0.0f)),
                 graph.add_constant("high", Tensor::scalar(6.0f))},
                graph.value(v).shape);
  }
};

// Biases in units of a power of two of the accumulator's, up to the rounding of their scales, are exact.
TEST(Integerize, ABiasInCoarserUnitsIsExact) {
  const auto bias_of = [](const Tensor& bias, const std::vector<float>& scales) {
    SmallConvolution g;
    g.bias = bias;
    g.bias_scales = scales;
    g.graph.outputs = {g.rounded(g.convolution(), g.out, ElementType::kU8)};
    const Graph integer = integerize(g.graph);
    const Tensor* found = integer.constant_input(integer.nodes[1], 2);
    return found ? found->to_integers() : std::vector<int64_t>();
  };
  const std::vector<int64_t> expected =
      bias_of(Tensor::of<int32_t>({2}, {2097151 << 9, -100}), {0.25f, 0.0625f});
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(bias_of(Tensor::of<int32_t>({2}, {2097151, -25}), {0.25f * 512, 0.25f}), expected);
  EXPECT_EQ(bias_of(Tensor::of<int32_t>({2}, {2097151, -25}), {std::nextafter(0.25f * 512, 1000.0f), 0.25f}),
            expected);
}

TEST(Integerize, FoldsActivationZeroPointsAndScalesIntoAConvolution) {
  SmallConvolution g;
  g.graph.outputs = {g.rounded(g.clipped(g.convolution()), g.out, ElementType::kU8)};
  IntegerizeReport report;
  const Graph integer = integerize(g.graph, &report);
  ASSERT_EQ(operators(integer), (Names{"QuantizeLinear", "QConv", "DequantizeLinear"}));
  const Node& conv = integer.nodes[1];
  EXPECT_EQ(conv.int_or("pad_value", 0), 3 - 128);
  EXPECT_EQ(conv.int_or("y_zero_point", 0), -128);
  EXPECT_EQ(conv.int_or("clip_low", -128), -128);
  EXPECT_EQ(conv.int_or("clip_high", 127), 24 - 128);
  EXPECT_TRUE(integer.value(conv.input(1)).constant->identical(g.weights));
  EXPECT_EQ(integer.value(conv.input(2)).constant->to_integers(),
            (std::vector<int64_t>{100 + 125 * 45, -100 - 125 * 45}));
  // 0.5 * 0.5 / 0.25 = 1 and 0.5 * 0.125 / 0.25 = 1/4.
  EXPECT_EQ(integer.value(conv.input(3)).constant->to_integers(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(integer.value(conv.input(4)).constant->to_integers(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(integer.value(integer.outputs[0]).name, g.graph.value(g.graph.outputs[0]).name);
  EXPECT_EQ(record_of(report, "Conv").integer_op, "QConv");
  EXPECT_EQ(record_of(report, "Conv").macs, 2 * 9 * 9);
  EXPECT_EQ(record_of(report, "Clip").integer_op, "QConv");
  EXPECT_EQ(report.integer_mac_share(), 1.0);
}

TEST(Integerize, KeepsAFloatCopyForAFloatReader) {
  SmallConvolution g;
  const ValueId conv = g.convolution();
  g.graph.outputs = {g.rounded(conv, g.out), conv};
  IntegerizeReport report;
  const Graph integer = integerize(g.graph, &report);
  const Names names = operators(integer);
  EXPECT_EQ(std::count(names.begin(), names.end(), "QConv"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Conv"), 1);
  EXPECT_EQ(record_of(report, "Conv").reason, "its float result is read as well");
  EXPECT_EQ(report.integer_mac_share(), 0.0);
}

TEST(Integerize, WidensWeightsWithAZeroPoint) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const Tensor weights = Tensor::of<uint8_t>({2, 2}, {0, 255, 128, 129});
  const ValueId dense = g.node("Gemm", {g.rounded(x, {1, 0}), g.constant(weights, 1.0f, 128)}, {1, 2},
                               {{"transB", int64_t{1}}});
  g.graph.outputs = {g.rounded(dense, {2, 0})};
  Graph integer = integerize(g.graph);
  const Node& gemm = integer.nodes[1];
  ASSERT_EQ(gemm.op, "QGemm");
  EXPECT_EQ(integer.value(gemm.input(1)).type, ElementType::kI8);  // -128..127 fit
  EXPECT_EQ(integer.value(gemm.input(1)).constant->to_integers(), (std::vector<int64_t>{-128, 127, 0, 1}));

  for (Value& value : g.graph.values) {
    if (value.constant && value.type == ElementType::kU8 && value.shape == Shape{})
      value.constant->set_integer(0, 100);
  }
  integer = integerize(g.graph);
  EXPECT_EQ(integer.value(integer.nodes[1].input(1)).constant->to_integers(),
            (std::vector<int64_t>{-100, 155, 28, 29}));
  EXPECT_EQ(integer.value(integer.nodes[1].input(1)).type, ElementType::kI16);
}

TEST(Integerize, TransposesDenseWeightsAndAddsTheBiasOfAnAddition) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {2, 3, 2});
  const Tensor weights = Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4});
  const ValueId product =
      g.node("MatMul", {g.rounded(x, {1, 0}), g.constant(weights, {0.5f, 0.25f}, {0, 0}, 1)}, {2, 3, 2});
  const ValueId sum =
      g.node("Add", {product, g.graph.add_constant("b", Tensor::of<float>({2}, {1.0f, 1.3f}))}, {2, 3, 2});
  g.graph.outputs = {g.rounded(sum, {1, 0})};
  IntegerizeReport report;
  const Graph integer = integerize(g.graph, &report);
  ASSERT_EQ(operators(integer), (Names{"QuantizeLinear", "Reshape", "QGemm", "Reshape", "DequantizeLinear"}));
  const Node& gemm = integer.nodes[2];
  EXPECT_EQ(integer.value(gemm.input(1)).constant->to_integers(), (std::vector<int64_t>{1, 3, 2, 4}));
  EXPECT_EQ(integer.value(gemm.input(2)).constant->to_integers(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(record_of(report, "Add").integer_op, "QGemm");
}

TEST(Integerize, PassesIntegersThroughDataMovement) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
  const Quantization q{0.1f, 5};
  const ValueId pooled =
      g.node("MaxPool", {g.rounded(x, q)}, {1, 2, 2, 2},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const ValueId flat = g.node("Flatten", {g.rounded(pooled, q)}, {1, 8});
  g.graph.outputs = {g.rounded(g.rounded(flat, q), q)};
  const Graph integer = integerize(g.graph);
  EXPECT_EQ(operators(integer), (Names{"QuantizeLinear", "MaxPool", "Flatten", "DequantizeLinear"}));
  EXPECT_EQ(integer.value(integer.nodes[1].outputs[0]).type, ElementType::kI8);
}

TEST(Integerize, RequantizesConcatInputsOfAnotherScale) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const ValueId joined =
      g.node("Concat", {g.rounded(x, {0.5f, 0}), g.rounded(x, {0.25f, 3})}, {1, 4}, {{"axis", int64_t{1}}});
  g.graph.outputs = {g.rounded(joined, {0.5f, 0})};
  const Graph integer = integerize(g.graph);
  ASSERT_EQ(operators(integer),
            (Names{"QuantizeLinear", "QuantizeLinear", "QRequantize", "Concat", "DequantizeLinear"}));
  const Node& requantize = integer.nodes[2];
  EXPECT_EQ(requantize.int_or("bias", 0), -3);
  EXPECT_EQ(requantize.int_or("multiplier", 0), 1);
  EXPECT_EQ(requantize.int_or("shift", 0), 1);
}

TEST(Integerize, AddsWithOneShift) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const ValueId sum = g.node("Sub", {g.rounded(x, {0.5f, 1}), g.rounded(x, {0.25f, 3})}, {1, 2});
  g.graph.outputs = {g.rounded(g.node("Relu", {sum}, {1, 2}), {1, -7})};
  const Graph integer = integerize(g.graph);
  const Node& add = integer.nodes[2];
  ASSERT_EQ(add.op, "QAdd");
  EXPECT_EQ(add.int_or("multiplier_a", 0), 2);
  EXPECT_EQ(add.int_or("multiplier_b", 0), -1);
  EXPECT_EQ(add.int_or("shift", 0), 2);
  EXPECT_EQ(add.int_or("bias", 0), -2 + 3);
  EXPECT_EQ(add.int_or("clip_low", 0), -7);
}

TEST(Integerize, ShiftsUnsignedBoundaries) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kU8, {1, 2});
  const ValueId y = g.quantize(g.node("Relu", {g.dequantize(x, {1, 10})}, {1, 2}), {2, 0}, ElementType::kU8);
  g.graph.outputs = {y};
  const Graph integer = integerize(g.graph);
  EXPECT_EQ(integer.value(integer.inputs[0]).type, ElementType::kU8);
  EXPECT_EQ(integer.value(integer.outputs[0]).type, ElementType::kU8);
  EXPECT_EQ(operators(integer), (Names{"DequantizeLinear", "QuantizeLinear", "QRequantize",
                                       "DequantizeLinear", "QuantizeLinear"}));
}

TEST(Integerize, NarrowsActivationsBetweenQuantizeAndClip) {
  SmallConvolution g;
  const ValueId q = g.quantize(g.convolution(), g.out);
  const ValueId narrow =
      g.node("Clip", {q, g.zero_point(ElementType::kI8, -8), g.zero_point(ElementType::kI8, 7)}, {1, 2, 3, 3},
             {}, ElementType::kI8);
  g.graph.outputs = {g.dequantize(narrow, g.out)};
  const Graph integer = integerize(g.graph);
  ASSERT_EQ(operators(integer), (Names{"QuantizeLinear", "QConv", "DequantizeLinear"}));
  EXPECT_EQ(integer.nodes[1].int_or("clip_low", 0), -8);
  EXPECT_EQ(integer.nodes[1].int_or("clip_high", 0), 7);
}

// Each reason for staying in float.
std::string reason_of(const Graph& graph, const std::string& op) {
  IntegerizeReport report;
  integerize(graph, &report);
  EXPECT_EQ(record_of(report, op).integer_op, "");
  return record_of(report, op).reason;
}

TEST(IntegerizeReasons, OverflowingAccumulator) {
  SmallConvolution g;
  g.bias = Tensor::of<int32_t>({2}, {2147480000, 0});
  g.graph.outputs = {g.rounded(g.convolution(), g.out)};
  EXPECT_EQ(reason_of(g.graph, "Conv"),
            "the accumulator of output channel 0 can reach 2147491340, which overflows 32 bits");
}

TEST(IntegerizeReasons, FloatWeights) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const ValueId w = g.graph.add_constant("w", Tensor(ElementType::kF32, {2, 2}));
  g.graph.outputs = {g.rounded(g.node("MatMul", {g.rounded(x, {1, 0}), w}, {1, 2}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "MatMul"), "its weights are not a quantised constant");
}

TEST(IntegerizeReasons, ComputedFactors) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {2, 2});
  const ValueId q = g.rounded(x, {1, 0});
  const ValueId bias = g.graph.add_constant("bias", Tensor(ElementType::kF32, {2}));
  g.graph.outputs = {g.rounded(g.node("Gemm", {q, q, bias}, {2, 2}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "Gemm"), "both factors are computed, and it adds a bias");
  g.graph.outputs = {g.rounded(g.node("MatMul", {q, x}, {2, 2}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "MatMul"), "its input 1 is not quantised");
}

TEST(IntegerizeReasons, UnquantizedInputAndResult) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const ValueId w = g.constant(Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4}), 1.0f);
  g.graph.outputs = {g.rounded(g.node("MatMul", {x, w}, {1, 2}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "MatMul"), "its input is not quantised");
  QdqGraphBuilder h;
  const ValueId y = h.graph.add_input("x", ElementType::kF32, {1, 2});
  h.graph.outputs = {h.node(
      "MatMul", {h.rounded(y, {1, 0}), h.constant(Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4}), 1.0f)}, {1, 2})};
  EXPECT_EQ(reason_of(h.graph, "MatMul"), "its result is not quantised");
}

TEST(IntegerizeReasons, TransposedConvolutionOfAShiftedInput) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 1, 2, 2});
  const ValueId w = g.constant(Tensor::of<int8_t>({1, 1, 2, 2}, {1, 2, 3, 4}), 1.0f);
  g.graph.outputs = {g.rounded(g.node("ConvTranspose", {g.rounded(x, {1, 4}), w}, {1, 1, 3, 3}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "ConvTranspose"),
            "its input has the zero point 4; only 0 has an integer form");
}

TEST(IntegerizeReasons, AverageWithoutItsPadding) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 1, 4, 4});
  const ValueId pooled =
      g.node("AveragePool", {g.rounded(x, {1, 0})}, {1, 1, 5, 5},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  g.graph.outputs = {g.rounded(pooled, {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "AveragePool"),
            "the average leaves out padding (count_include_pad = 0), so its divisor varies");
}

TEST(IntegerizeReasons, AverageOfNothing) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 0, 4});
  const ValueId mean =
      g.node("ReduceMean", {g.rounded(x, {1, 0})}, {1, 2, 1, 1}, {{"axes", std::vector<int64_t>{2, 3}}});
  g.graph.outputs = {g.rounded(mean, {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "ReduceMean"), "its window holds no elements");
}

TEST(IntegerizeReasons, OperatorWithoutIntegerForm) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  g.graph.outputs = {g.rounded(g.node("LogSoftmax", {g.rounded(x, {1, 0})}, {1, 2}), {1, 0})};
  EXPECT_EQ(reason_of(g.graph, "LogSoftmax"), "this operator has no integer form");
  IntegerizeReport report;
  integerize(g.graph, &report);
  EXPECT_EQ(to_string(report),
            "0 of 1 operators are integer, with 100.00% of 0 multiply-accumulates\n"
            "node        operator    why it stays in float\n"
            "LogSoftmax  LogSoftmax  this operator has no integer form\n");
}

TEST(Integerize, LongChainsOfActivationsDoNotExhaustTheStack) {
  QdqGraphBuilder g;
  ValueId v = g.rounded(g.graph.add_input("x", ElementType::kF32, {1, 2}), {1, 0});
  v = g.node("Softmax", {v}, {1, 2});
  for (int i = 0; i < 300; ++i) v = g.node("Relu", {v}, {1, 2});
  for (int i = 0; i < 40; ++i) v = g.node("Concat", {v, v}, {1, 2}, {{"axis", int64_t{0}}});
  g.graph.outputs = {g.rounded(v, {1, 0})};
  EXPECT_FALSE(integerize(g.graph).nodes.empty());
}

}  // namespace
}  // namespace tilewright
