#include "tilewright/quantize/quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/error_text_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/calibrate/single_precision.h"
#include "tilewright/quantize/equalize.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integer_borders.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantization_plan.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

using Names = std::vector<std::string>;

int count(const Graph& graph, const std::string& op) {
  return int(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.op == op; }));
}

// The sum of squares of the difference between the first outputs of two graphs on the samples.
double output_error(const Graph& a, const Graph& b, const std::vector<Tensor>& samples) {
  const Executor first(a), second(b);
  const SampleInputs inputs(a, samples);
  double sum = 0;
  for (int64_t run = 0; run < inputs.runs(); ++run) {
    const Tensor x = first.run(inputs.inputs(run))[0], y = second.run(inputs.inputs(run))[0];
    for (int64_t i = 0; i < x.size(); ++i) sum += std::pow(x.number_at(i) - y.number_at(i), 2);
  }
  return sum;
}

TEST(Quantizer, EqualizedGraphsComputeTheSame) {
  FloatGraph g = separable_graph();
  const std::vector<Tensor> samples = {g.numbers({64, 3, 12, 12}, -1, 1)};
  Graph equal = g.graph;
  const ChannelFactors factors = equalize_channels(equal, plan_quantization(equal), samples, {});
  EXPECT_FALSE(factors.empty());
  for (const auto& [name, channels] : factors) {
    EXPECT_EQ(channels.size(), 6u) << name;
    for (float factor : channels) EXPECT_GE(factor, 1.0f) << name;
  }
  EXPECT_LT(output_error(g.graph, equal, samples), 1e-6);
}

TEST(Quantizer, CorrectionsLowerTheError) {
  FloatGraph g = separable_graph();
  const std::vector<Tensor> samples = {g.numbers({64, 3, 12, 12}, -1, 1)},
                            others = {g.numbers({32, 3, 12, 12}, -1, 1)};
  QuantizeOptions none;
  none.calibration = CalibrationMethod::kSquaredError;
  none.weight_bits = 4;
  none.correct_bias = none.reconstruct = false;
  QuantizeOptions corrected = none;
  corrected.correct_bias = corrected.reconstruct = true;
  const double before = output_error(g.graph, quantize(g.graph, samples, none), others);
  EXPECT_LT(output_error(g.graph, quantize(g.graph, samples, corrected), others), before);
  none.correct_bias = true;
  EXPECT_LT(output_error(g.graph, quantize(g.graph, samples, none), others), before);
}

// A bias beside weights that are tiny: as many bits as f32 keeps.
TEST(Quantizer, BiasesHaveTwentyTwoSignificantBits) {
  FloatGraph g;
  const ValueId x = g.graph.add_value("x", ElementType::kF32, Shape{3, 4});
  g.graph.inputs = {x};
  const ValueId w = g.graph.add_constant("w", g.numbers({4, 50}, -1e-5, 1e-5));
  const ValueId b = g.graph.add_constant("b", g.numbers({50}, -1, 1));
  g.graph.outputs = {g.node("Gemm", {x, w, b}, {3, 50})};
  const Graph qdq = quantize(g.graph, {g.numbers({3, 4}, -1, 1)});
  int biases = 0, large = 0;
  for (const Node& node : qdq.nodes) {
    const Tensor* bias = qdq.constant_input(node, 0);
    if (!node.is("DequantizeLinear") || !bias || bias->type() != ElementType::kI32) continue;
    for (const int64_t number : bias->to_integers()) {
      int64_t odd = std::llabs(number);
      while (odd != 0 && odd % 2 == 0) odd /= 2;
      EXPECT_LT(odd, 1 << 22);
      ++biases;
      large += std::llabs(number) >= 1 << 22;
    }
  }
  EXPECT_EQ(biases, 50);
  EXPECT_GT(large, 40);
}

// As many rows as output features: a bias of one number per row is none per feature, and stays as it is.
TEST(Quantizer, ABiasOfRowsIsNotOneOfFeatures) {
  FloatGraph g;
  const ValueId x = g.graph.add_value("x", ElementType::kF32, Shape{3, 4});
  g.graph.inputs = {x};
  const ValueId w = g.graph.add_constant("w", g.numbers({4, 3}, -0.5, 0.5));
  const ValueId b = g.graph.add_constant("b", Tensor::of<float>({3, 1}, {-40, 0, 40}));
  g.graph.outputs = {g.node("Gemm", {x, w, b}, {3, 3})};
  const std::vector<Tensor> samples = {g.numbers({3, 4}, -1, 1)};
  const Tensor expected = Executor(g.graph).run(samples)[0];
  const Tensor quantized = Executor(quantize(g.graph, samples, {})).run(samples)[0];
  for (int64_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(quantized.number_at(i), expected.number_at(i), 0.5) << i;
}

void expect_valid(const Graph& graph) {
  Diagnostics problems;
  verify(graph, problems);
  EXPECT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
}

TEST(PlanQuantization, FusesActivationsAndLooksThroughDataMovement) {
  const FloatGraph g = residual_network();
  const QuantizationPlan plan = plan_quantization(g.graph);
  Names names;
  for (ValueId v : plan.values) names.push_back(g.graph.value(v).name);
  EXPECT_EQ(names, (Names{"x", "Relu_out", "Conv_out_1", "Relu_out_1", "Gemm_out"}));
  EXPECT_EQ(plan.weighted.size(), 3u);
}

Names planned(const Graph& graph) {
  Names names;
  for (ValueId v : plan_quantization(graph).values) names.push_back(graph.value(v).name);
  return names;
}

// An Add of one number per output channel is the bias of the layer before it; one that makes more channels or
// axes of its result is none.
TEST(PlanQuantization, AConstantPerChannelIsABias) {
  for (const bool swapped : {false, true}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
    const ValueId y = g.convolution(x, 3);
    const ValueId constant = g.graph.add_constant("c", g.numbers({1, 3, 1, 1}, -1, 1));
    const ValueId sum =
        g.node("Add", swapped ? std::vector{constant, y} : std::vector{y, constant}, {1, 3, 4, 4});
    g.graph.outputs = {g.relu(sum)};
    EXPECT_EQ(planned(g.graph), (Names{"x", "Relu_out"}));
    EXPECT_EQ(plan_quantization(g.graph).weighted.at(0).bias_addition, 1);
  }
  for (const Shape& wide : {Shape{1, 3, 1, 1}, Shape{1, 1, 1, 1, 1}}) {
    FloatGraph g;
    const ValueId y = g.convolution(g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4}), 1);
    const ValueId constant = g.graph.add_constant("c", g.numbers(wide, -1, 1));
    const Shape result = wide.rank() == 5 ? Shape{1, 1, 1, 4, 4} : Shape{1, 3, 4, 4};
    g.graph.outputs = {g.node("Add", {y, constant}, result)};
    EXPECT_EQ(plan_quantization(g.graph).weighted.at(0).bias_addition, kNoNode);
  }
}

// Any layers may be left in float: they keep their operators, and the others are integers as before.
TEST(KeptInFloatClass, LayersKeepTheirOperators) {
  Random random(test_seed());
  int64_t kept = 0, integers = 0;
  for (int i = 0; i < 40; ++i) {
    FloatGraph g = i % 2 == 0 ? separable_graph(random.next()) : residual_network();
    for (size_t n = 0; n < g.graph.nodes.size(); ++n) g.graph.nodes[n].name = "node" + std::to_string(n);
    const Shape input = g.graph.value(g.graph.inputs[0]).shape;
    const std::vector<Tensor> samples = {g.numbers(input, -1, 1)};
    QuantizeOptions options;
    for (const Node& node : g.graph.nodes) {
      if ((node.is("Conv") || node.is("Gemm")) && random.chance(0.4))
        options.float_nodes.push_back(node.name);
    }
    const Graph integer = integerize(quantize(g.graph, samples, options));
    for (const std::string& name : options.float_nodes) {
      const auto find = [&](const Graph& graph) {
        return std::find_if(graph.nodes.begin(), graph.nodes.end(),
                            [&](const Node& node) { return node.name == name; });
      };
      ASSERT_NE(find(integer), integer.nodes.end()) << name;
      EXPECT_EQ(find(integer)->op, find(g.graph)->op);
      ++kept;
    }
    integers += std::count_if(integer.nodes.begin(), integer.nodes.end(),
                              [](const Node& node) { return node.domain == kTilewrightDomain; });
    EXPECT_EQ(run(integer, samples).size(), g.graph.outputs.size());
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(integers, 20);
}

TEST(KeptInFloat, NamesMayStandForMany) {
  FloatGraph g = separable_graph();
  for (size_t n = 0; n < g.graph.nodes.size(); ++n)
    g.graph.nodes[n].name = (n < 2 ? "first/" : "second/") + std::to_string(n);
  EXPECT_EQ(plan_quantization(g.graph, {"first/*"}).weighted.size(), 2u);
  EXPECT_EQ(plan_quantization(g.graph, {"second/?"}).weighted.size(), 1u);
  EXPECT_TRUE(plan_quantization(g.graph, {"*"}).values.empty());
  EXPECT_EQ(error_text([&] {
              plan_quantization(g.graph, {"first/*", "frist/0"});
            }),
            "nodes that stay in float: no node of the simplified network is called 'frist/0'; did you mean "
            "'first/0'? `optimize` writes that network with its names; * stands for any characters");
}

TEST(PlanQuantization, WeightsAreConstantWhateverTheBias) {
  for (const bool constant : {false, true}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
    std::vector<ValueId> inputs{x, constant ? g.graph.add_constant("w", g.numbers({3, 2, 1, 1}, -1, 1))
                                            : g.graph.add_input("w", ElementType::kF32, {3, 2, 1, 1})};
    if (!constant) inputs.push_back(g.graph.add_constant("b", g.numbers({3}, -1, 1)));
    g.graph.outputs = {g.node("Conv", inputs, {1, 3, 4, 4})};
    EXPECT_EQ(plan_quantization(g.graph).weighted.size(), constant ? 1u : 0u);
  }
}

TEST(PlanQuantization, AddsOneShapeToTheSame) {
  for (const bool broadcasts : {false, true}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
    const ValueId a = g.relu(g.convolution(x, broadcasts ? 1 : 3)), b = g.relu(g.convolution(x, 3));
    g.graph.outputs = {g.node("Add", {a, b}, {1, 3, 4, 4})};
    Names expected{"x", "Relu_out", "Relu_out_1"};
    if (!broadcasts) expected.push_back("Add_out");
    EXPECT_EQ(planned(g.graph), expected);
  }
}

// Inside a function of one value (x + c x^3, as in GELU) nothing is quantised: all of it is one table.
TEST(PlanQuantization, SumsWithinAFunctionOfOneValueAreNot) {
  for (const bool of_one : {true, false}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
    const ValueId a = g.convolution(x, 2), other = of_one ? a : g.convolution(x, 2);
    const ValueId cube = g.node("Mul", {g.node("Mul", {other, other}, {1, 2, 4, 4}), other}, {1, 2, 4, 4});
    const ValueId tanh = g.node("Tanh", {g.node("Add", {a, cube}, {1, 2, 4, 4})}, {1, 2, 4, 4});
    g.graph.outputs = {g.convolution(tanh, 2)};
    Names expected{"x", "Conv_out", "Tanh_out", "Conv_out_1"};
    if (!of_one) expected = {"x", "Conv_out", "Conv_out_1", "Mul_out_1", "Add_out", "Tanh_out", "Conv_out_2"};
    EXPECT_EQ(planned(g.graph), expected) << of_one;
  }
}

// Zeros are representable in any quantisation: the padded value keeps that of its source.
TEST(PlanQuantization, LooksThroughPaddingWithZerosAlone) {
  for (const char* number : {"absent", "0", "0.5", "computed"}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
    std::vector<ValueId> inputs{
        g.relu(g.convolution(x, 3)),
        g.graph.add_constant("pads", Tensor::of<int64_t>({8}, {0, 0, 1, 1, 0, 0, 1, 1}))};
    const std::string text = number;
    if (text == "computed") {
      inputs.push_back(g.graph.add_input("number", ElementType::kF32, {}));
    } else if (text != "absent") {
      inputs.push_back(g.graph.add_constant("number", Tensor::scalar(std::stof(text))));
    }
    g.graph.outputs = {g.convolution(g.node("Pad", inputs, {1, 3, 6, 6}), 2)};
    Names expected{"x", "Relu_out", "Conv_out_1"};
    if (text == "0.5" || text == "computed") expected.insert(expected.begin() + 2, "Pad_out");
    EXPECT_EQ(planned(g.graph), expected) << text;
  }
}

TEST(PlanQuantization, ConcatInputsShareTheScaleUnlessReadElsewhere) {
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
  const ValueId a = g.relu(g.convolution(x, 2)), b = g.relu(g.convolution(x, 2));
  const ValueId joined = g.node("Concat", {a, b, x}, {1, 6, 4, 4}, {{"axis", int64_t{1}}});
  g.graph.outputs = {g.convolution(joined, 3)};
  const QuantizationPlan plan = plan_quantization(g.graph);
  EXPECT_EQ(plan.group_of(a), plan.group_of(joined));
  EXPECT_EQ(plan.group_of(b), plan.group_of(joined));
  EXPECT_NE(plan.group_of(x), plan.group_of(joined));
  ASSERT_EQ(plan.orders.size(), 1u);
  EXPECT_EQ(plan.orders[0].from, x);
}

TEST(Quantize, GivesAnIntegerNetworkOfStandardOperators) {
  FloatGraph g = residual_network();
  const Tensor samples = g.numbers({6, 2, 8, 8}, -1, 1);
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    for (const bool per_channel : {true, false}) {
      QuantizeOptions options;
      options.scales = scales;
      options.per_channel = per_channel;
      const Graph qdq = quantize(g.graph, {samples}, options);
      expect_valid(qdq);
      EXPECT_EQ(count(qdq, "QuantizeLinear"), 5);
      EXPECT_EQ(qdq.value(qdq.outputs[0]).name, "probabilities");
      for (const Node& node : qdq.nodes) EXPECT_EQ(node.domain, "");
      IntegerizeReport report;
      const Graph integer = integerize(qdq, &report);
      expect_valid(integer);
      EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
      Names names;
      for (const Node& node : integer.nodes) names.push_back(node.op);
      EXPECT_EQ(names, (Names{"QuantizeLinear", "QConv", "QConv", "QAdd", "MaxPool", "Flatten", "QGemm",
                              "DequantizeLinear", "Softmax"}));
    }
  }
}

TEST(Quantize, PowersOfTwoOnlyShift) {
  FloatGraph g = residual_network();
  QuantizeOptions options;
  options.scales = ScaleKind::kPowerOfTwo;
  const Graph integer = integerize(quantize(g.graph, {g.numbers({6, 2, 8, 8}, -1, 1)}, options));
  for (const Node& node : integer.nodes) {
    if (node.op != "QConv" && node.op != "QGemm") continue;
    EXPECT_EQ(node.int_or("y_zero_point", 0), 0);
    for (int64_t m : integer.constant_input(node, 3)->to_integers()) EXPECT_EQ(m, 1);
    for (int64_t s : integer.constant_input(node, 4)->to_integers()) {
      EXPECT_GE(s, 0);
      EXPECT_LE(s, 15);
    }
  }
}

TEST(Quantize, PowersOfTwoRaiseScalesAndBoundShifts) {
  // Weights over many orders of magnitude, one channel dead, and an output that nearly cancels: natural
  // scales would need shifts on both sides of 0..15.
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2});
  const ValueId w = g.graph.add_constant(
      "w", Tensor::of<float>({4, 2}, {100.0f, -100.0f, 1e-6f, 1e-6f, 0.0f, 0.0f, 1e-4f, -1e-3f}));
  const ValueId b = g.graph.add_constant("b", Tensor::of<float>({4}, {0.0f, 0.0f, 0.01f, 0.0f}));
  g.graph.outputs = {g.node("Gemm", {x, w, b}, {1, 4}, {{"transB", int64_t{1}}})};
  QuantizeOptions options;
  options.scales = ScaleKind::kPowerOfTwo;
  const Graph integer = integerize(quantize(g.graph, {Tensor::of<float>({2, 2}, {1, 1, -1, -1})}, options));
  ASSERT_EQ(integer.nodes[1].op, "QGemm");
  for (int64_t m : integer.constant_input(integer.nodes[1], 3)->to_integers()) EXPECT_EQ(m, 1);
  for (int64_t s : integer.constant_input(integer.nodes[1], 4)->to_integers()) {
    EXPECT_GE(s, 0);
    EXPECT_LE(s, 15);
  }
}

TEST(Quantize, KeepsNamesOfOutputsThatItQuantizes) {
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4});
  g.graph.outputs = {g.relu(g.convolution(x, 2))};
  g.graph.value(g.graph.outputs[0]).name = "y";
  const Graph qdq = quantize(g.graph, {g.numbers({2, 2, 4, 4}, -1, 1)});
  EXPECT_EQ(qdq.value(qdq.outputs[0]).name, "y");
  EXPECT_EQ(qdq.value(qdq.inputs[0]).name, "x");
  expect_valid(qdq);
}

// f16 throughout.
void make_half(Graph& graph) {
  for (Value& value : graph.values) {
    if (value.constant) value.constant = value.constant->cast(ElementType::kF16);
    value.type = ElementType::kF16;
  }
}

TEST(Quantize, NewNamesAreNoneOfTheModel) {
  for (const bool half : {false, true}) {
    for (const std::string name :
         {"y_real", "y_dequantized", "y_quantized", "y_scale", "y_single", "x_single"}) {
      FloatGraph g;
      const ValueId inner = g.relu(g.convolution(g.graph.add_input("x", ElementType::kF32, {1, 2, 4, 4}), 2));
      g.graph.outputs = {g.convolution(inner, 2)};
      g.graph.value(inner).name = name;
      g.graph.value(g.graph.outputs[0]).name = "y";
      if (half) make_half(g.graph);
      SCOPED_TRACE(name + (half ? ", half" : ""));
      const Graph qdq = quantize(g.graph, {g.numbers({2, 2, 4, 4}, -1, 1)});
      expect_valid(qdq);
      EXPECT_EQ(qdq.value(qdq.inputs[0]).name, "x");
      EXPECT_EQ(qdq.value(qdq.outputs[0]).name, "y");
    }
  }
}

// alpha * x w + beta * b: the range of the result is that of the whole, so that nothing saturates.
TEST(QuantizeClass, GemmsWithFactorsComeCloseToFloat) {
  const int64_t cases = test_cases(60);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    FloatGraph g;
    g.random = Random(test_seed() + uint64_t(i));
    const int64_t depth = g.random.between(1, 6), columns = g.random.between(1, 4);
    const bool turned = g.random.chance(0.5);
    std::vector<ValueId> inputs{g.graph.add_input("x", ElementType::kF32, {1, depth})};
    const Shape weights = turned ? Shape{columns, depth} : Shape{depth, columns};
    inputs.push_back(g.graph.add_constant("w", g.numbers(weights, -1, 1)));
    if (g.random.chance(0.5)) inputs.push_back(g.graph.add_constant("b", g.numbers({columns}, -1, 1)));
    const auto factor = [&] {
      return g.random.chance(0.2) ? 1.0f
                                  : float((g.random.uniform() * 2 - 1) * std::exp2(g.random.between(-4, 4)));
    };
    const float alpha = factor(), beta = factor();
    g.graph.outputs = {g.node("Gemm", inputs, {1, columns},
                              {{"alpha", alpha}, {"beta", beta}, {"transB", int64_t{turned}}})};
    const Tensor samples = g.numbers({8, depth}, -1, 1);
    QuantizeOptions options;
    options.calibration = CalibrationMethod::kMinMax;
    const Executor real(g.graph), quantized(quantize(g.graph, {samples}, options));
    double largest = 0, error = 0;
    for (int64_t row = 0; row < 8; ++row) {
      const Tensor x = elements_from(samples, row * depth, {1, depth});
      const Tensor expected = real.run({x})[0], found = quantized.run({x})[0];
      for (int64_t e = 0; e < columns; ++e) {
        largest = std::max(largest, std::fabs(expected.number_at(e)));
        error = std::max(error, std::fabs(expected.number_at(e) - found.number_at(e)));
      }
    }
    EXPECT_LE(error, 0.05 * largest) << "alpha " << alpha << ", beta " << beta;
  }
}

TEST(Quantize, TransposedConvolutionsReadZeroPointZero) {
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 4, 3, 3});
  const ValueId a = g.relu(g.convolution(x, 4));
  const ValueId w = g.graph.add_constant("w", g.numbers({4, 3, 2, 2}, -1, 1));
  g.graph.outputs = {
      g.node("ConvTranspose", {a, w}, {1, 3, 6, 6}, {{"strides", std::vector<int64_t>{2, 2}}})};
  IntegerizeReport report;
  const Graph integer = integerize(quantize(g.graph, {g.numbers({3, 4, 3, 3}, -1, 1)}), &report);
  expect_valid(integer);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
}

TEST(Quantize, NarrowNumbersTravelInEightBits) {
  FloatGraph g = residual_network();
  QuantizeOptions options;
  options.weight_bits = 4;
  options.activation_bits = 4;
  const Graph qdq = quantize(g.graph, {g.numbers({6, 2, 8, 8}, -1, 1)}, options);
  expect_valid(qdq);
  IntegerizeReport report;
  const Graph integer = integerize(qdq, &report);
  expect_valid(integer);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  for (const Node& node : integer.nodes) {
    if (node.op != "QConv" && node.op != "QGemm") continue;
    EXPECT_GE(node.int_or("clip_low", -128), -8);
    EXPECT_LE(node.int_or("clip_high", 127), 7);
    for (int64_t q : integer.constant_input(node, 1)->to_integers()) EXPECT_LE(std::abs(q), 7);
  }
}

TEST(Quantize, ComputesHalfPrecisionModelsInSingle) {
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF16, {1, 2, 4, 4});
  const ValueId y = g.relu(g.convolution(x, 2));
  make_half(g.graph);
  g.graph.outputs = {y};
  g.graph.value(y).name = "y";
  const Graph qdq = quantize(g.graph, {g.numbers({2, 2, 4, 4}, -1, 1)});
  expect_valid(qdq);
  EXPECT_EQ(qdq.value(qdq.inputs[0]).type, ElementType::kF16);
  EXPECT_EQ(qdq.value(qdq.outputs[0]).type, ElementType::kF16);
  EXPECT_EQ(qdq.value(qdq.outputs[0]).name, "y");
  IntegerizeReport report;
  integerize(qdq, &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
}

TEST(Quantize, SingleLayersAndActivationsHaveBitsOfTheirOwn) {
  FloatGraph g = separable_graph();
  const std::vector<Tensor> samples = {g.numbers({6, 3, 12, 12}, -1, 1)};
  QuantizeOptions options;
  options.layer_bits = {{g.graph.nodes[2].name, 3}};
  options.value_bits = {{"Relu_out", 5}, {"x", 16}};
  const Graph qdq = quantize(g.graph, samples, options);
  expect_valid(qdq);
  EXPECT_EQ(count(qdq, "Clip"), 2);  // that of the network, and the one of 5 bits
  for (const Node& node : qdq.nodes) {
    if (node.is("QuantizeLinear") && node.inputs[0] == qdq.inputs[0]) {
      EXPECT_EQ(qdq.value(node.outputs[0]).type, ElementType::kI16);
    }
    const Tensor* weights = qdq.constant_input(node, 0);
    if (!node.is("DequantizeLinear") || !weights || weights->type() != ElementType::kI8) continue;
    int64_t largest = 0;
    for (const int64_t w : weights->to_integers()) largest = std::max(largest, std::abs(w));
    EXPECT_EQ(largest <= 3, node.name == g.graph.nodes[2].name + "_weights_dequantize") << node.name;
  }
  expect_valid(integerize(qdq));
}

TEST(QuantizeRejects, BitsOfNothing) {
  FloatGraph g = residual_network();
  QuantizeOptions options;
  options.layer_bits = {{"nowhere", 4}};
  options.value_bits = {{"nothing", 16}};
  const std::string text = error_text([&] { quantize(g.graph, {g.numbers({2, 2, 8, 8}, -1, 1)}, options); });
  EXPECT_NE(text.find("(layer_bits): nothing that is quantised is called 'nowhere'"), std::string::npos)
      << text;
  EXPECT_NE(text.find("(value_bits): nothing that is quantised is called 'nothing'"), std::string::npos)
      << text;
  options.layer_bits = {{"Conv", 16}};
  options.value_bits = {{"x", 12}};
  const std::string widths = error_text([&] { quantize(g.graph, {}, options); });
  EXPECT_NE(widths.find("(layer_bits): 16 bits are not possible"), std::string::npos) << widths;
  EXPECT_NE(widths.find("(value_bits): 12 bits are not possible"), std::string::npos) << widths;
}

TEST(QuantizeRejects, OptionsOutOfRange) {
  const FloatGraph g = residual_network();
  QuantizeOptions options;
  options.weight_bits = 1;
  options.activation_bits = 9;
  options.percentile = 20;
  const std::string text = error_text([&] { quantize(g.graph, {}, options); });
  EXPECT_NE(text.find("(weight_bits): 1 bit is not supported after training"), std::string::npos) << text;
  EXPECT_NE(text.find("(activation_bits): 9 bits are not possible; choose 2 to 8"), std::string::npos)
      << text;
  EXPECT_NE(text.find("(percentile): 20 is outside 50..100"), std::string::npos) << text;
}

TEST(QuantizeRejects, QuantizedModels) {
  FloatGraph g = residual_network();
  const Tensor samples = g.numbers({2, 2, 8, 8}, -1, 1);
  const Graph qdq = quantize(g.graph, {samples});
  const std::string text = error_text([&] { quantize(qdq, {samples}); });
  EXPECT_NE(text.find("(QuantizeLinear): the model is quantised already"), std::string::npos) << text;
}

TEST(SampleInputs, IteratesAndConverts) {
  const FloatGraph g = residual_network();
  Tensor samples(ElementType::kU8, Shape{3, 2, 8, 8});
  samples.set_integer(2 * 128, 200);
  const SampleInputs inputs(g.graph, {samples});
  EXPECT_EQ(inputs.runs(), 3);
  EXPECT_EQ(inputs.inputs(2)[0].type(), ElementType::kF32);
  EXPECT_EQ(inputs.inputs(2)[0].data<float>()[0], 200.0f);
  EXPECT_EQ(inputs.inputs(1)[0].data<float>()[0], 0.0f);
}

TEST(SampleInputsRejects, WrongArrays) {
  const FloatGraph g = residual_network();
  EXPECT_NE(error_text([&] {
              SampleInputs(g.graph, {});
            }).find("0 sample arrays were given for a model of 1 inputs"),
            std::string::npos);
  const std::string shape = error_text([&] {
    SampleInputs(g.graph, {Tensor(ElementType::kF32, Shape{2, 3, 8, 8})});
  });
  EXPECT_NE(shape.find("the samples have the shape 2x3x8x8, the model takes 1x2x8x8"), std::string::npos)
      << shape;
  const std::string none = error_text([&] {
    SampleInputs(g.graph, {Tensor(ElementType::kF32, Shape{0, 2, 8, 8})});
  });
  EXPECT_NE(none.find("0 samples do not fill one batch of 1"), std::string::npos) << none;
}

TEST(CalibrateRejects, NumbersThatAreNotFinite) {
  const FloatGraph g = residual_network();
  Tensor samples(ElementType::kF32, Shape{1, 2, 8, 8});
  samples.set_number(5, std::nan(""));
  const std::string text = error_text([&] { quantize(g.graph, {samples}); });
  EXPECT_NE(text.find("value 'x': 1 numbers are infinite or not a number"), std::string::npos) << text;
}

// Integers go in and come out, also behind what only moves the results; they stand for what the file with
// real borders takes and gives.
TEST(Quantizer, IntegerBorders) {
  for (const bool moved : {false, true}) {
    FloatGraph g;
    const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 6, 6});
    ValueId y = g.relu(g.convolution(x, 8));
    if (moved) {
      y = g.node("DepthToSpace", {y}, {1, 2, 12, 12}, {{"blocksize", int64_t{2}}});
      y = g.node("Transpose", {y}, {1, 12, 12, 2}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
    }
    g.graph.outputs = {y};
    const std::vector<Tensor> samples{g.numbers({8, 2, 6, 6}, -1, 1)};
    const Graph real = quantize(g.graph, samples, {});
    std::vector<IntegerBorder> borders;
    const Graph integer = with_integer_borders(real, &borders);
    Diagnostics problems;
    verify(integer, problems);
    EXPECT_TRUE(problems.ok());
    ASSERT_EQ(borders.size(), 2u);
    EXPECT_EQ(integer.value(integer.inputs[0]).type, ElementType::kI8);
    EXPECT_EQ(integer.value(integer.outputs[0]).type, ElementType::kI8);
    EXPECT_EQ(integer.value(integer.outputs[0]).name, g.graph.value(y).name);
    EXPECT_EQ(integer.value(integer.outputs[0]).shape, g.graph.value(y).shape);
    Tensor image(ElementType::kI8, {1, 2, 6, 6}), pixels(ElementType::kF32, {1, 2, 6, 6});
    for (int64_t i = 0; i < image.size(); ++i) {
      image.set_integer(i, g.random.between(-128, 127));
      pixels.set_number(i, float(borders[0].scale) * float(image.integer_at(i) - borders[0].zero_point));
    }
    const Tensor expected = run(real, {pixels})[0], got = run(integer, {image})[0];
    for (int64_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(float(borders[1].scale) * float(got.integer_at(i) - borders[1].zero_point),
                float(expected.number_at(i)));
    }
  }
}

}  // namespace
}  // namespace tilewright
