#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/quantize/qdq_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"

namespace tilewright {
namespace {

using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;
constexpr int kQ22 = 22;

Names operators(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

Tensor random_real(const Shape& shape, double limit, Random& random) {
  Tensor tensor(ElementType::kF32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, limit * (2 * random.uniform() - 1));
  return tensor;
}

// Named nodes, f32 everywhere.
struct Net : QdqGraphBuilder {
  Random random{9400};
  ValueId x;
  explicit Net(const Shape& shape) : x(graph.add_input("x", ElementType::kF32, shape)) {}
  ValueId weights(const Shape& shape, double limit = 0.5) {
    return graph.add_constant("w", random_real(shape, limit, random));
  }
  ValueId scalar(float number) { return graph.add_constant("c", Tensor::scalar(number)); }
  Graph finish(ValueId y) {
    graph.outputs = {y};
    return graph;
  }
  double error(const Graph& fixed) {
    const Tensor input = random_real(graph.value(x).shape, 2, random);
    const Tensor real = run(graph, {input})[0], actual = run(fixed, {input})[0];
    double largest = 0;
    for (int64_t i = 0; i < real.size(); ++i) {
      largest = std::max(largest, std::abs(real.number_at(i) - actual.number_at(i)));
    }
    return real.shape() == actual.shape() && real.type() == actual.type() ? largest : INFINITY;
  }
};

TEST(FixedPointLowering, ActivationsBecomeClipsAndSoftmaxStays) {
  Net net({1, 3, 8, 8});
  ValueId v = net.node("Conv", {net.x, net.weights({4, 3, 3, 3}), net.weights({4})}, {1, 4, 8, 8},
                       {{"pads", Ints{1, 1, 1, 1}}});
  v = net.node("Relu", {v}, {1, 4, 8, 8});
  v = net.node("Clip", {v, net.scalar(-1), net.scalar(6)}, {1, 4, 8, 8});
  v = net.node("MaxPool", {v}, {1, 4, 4, 4}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  v = net.node("Flatten", {v}, {1, 64});
  v = net.node("Gemm", {v, net.weights({64, 10}), net.weights({10})}, {1, 10});
  const Graph real = net.finish(net.node("Softmax", {v}, {1, 10}));
  FixedPointReport report;
  const Graph fixed = to_fixed_point(real, kQ22, &report);
  EXPECT_EQ(operators(fixed),
            (Names{"FixedEncode", "FixedConv", "MaxPool", "Flatten", "FixedGemm", "FixedDecode", "Softmax"}));
  EXPECT_EQ(fixed.nodes[1].int_or("clip_low", 1), 0);
  EXPECT_EQ(fixed.nodes[1].int_or("clip_high", 1), 6 << 22);
  EXPECT_EQ(fixed.nodes[4].has("clip_low"), false);
  EXPECT_EQ(fixed.value(fixed.inputs[0]).name, "x");
  EXPECT_EQ(fixed.value(fixed.outputs[0]).name, real.value(real.outputs[0]).name);
  EXPECT_LT(net.error(fixed), 1e-5);
  EXPECT_EQ(report.fixed_mac_share(), 1.0);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_EQ(to_string(report),
            "Q10.22: 6 of 7 operators in fixed point, with 100.00% of 7552 multiply-accumulates\n"
            "node     operator  why it stays in float\n"
            "Softmax  Softmax   this operator has no fixed form\n");
  ASSERT_EQ(report.meanings.size(), 5u);
  EXPECT_EQ(report.meanings[0].source, "x");
  EXPECT_EQ(report.meanings[1].source, "Clip_out") << "the clip took over the convolution's value";
}

TEST(FixedPointLowering, ActivationsOfSeveralReadersStayApart) {
  Net net({1, 2, 4, 4});
  const ValueId conv = net.node("Conv", {net.x, net.weights({2, 2, 1, 1})}, {1, 2, 4, 4});
  const ValueId relu = net.node("Relu", {conv}, {1, 2, 4, 4});
  const Graph fixed = to_fixed_point(net.finish(net.node("Add", {conv, relu}, {1, 2, 4, 4})), kQ22);
  EXPECT_EQ(operators(fixed), (Names{"FixedEncode", "FixedConv", "Clip", "FixedAdd", "FixedDecode"}));
  EXPECT_LT(net.error(fixed), 1e-5);
}

TEST(FixedPointLowering, AveragesAndTables) {
  Net net({1, 4, 6, 6});
  ValueId v = net.node("Conv", {net.x, net.weights({4, 1, 3, 3})}, {1, 4, 4, 4}, {{"group", int64_t{4}}});
  v = net.node("Sigmoid", {v}, {1, 4, 4, 4});
  v = net.node("AveragePool", {v}, {1, 4, 2, 2}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  v = net.node("Tanh", {v}, {1, 4, 2, 2});
  v = net.node("ReduceMean", {v}, {1, 4}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}});
  v = net.node("LeakyRelu", {v}, {1, 4}, {{"alpha", 0.25f}});
  const Graph fixed = to_fixed_point(net.finish(v), kQ22);
  EXPECT_EQ(operators(fixed),
            (Names{"FixedEncode", "FixedConv", "FixedLookup", "FixedAveragePool", "FixedLookup",
                   "FixedAveragePool", "Reshape", "FixedLookup", "FixedDecode"}));
  EXPECT_EQ(fixed.nodes[2].int_or("input_shift", 0), 18);
  EXPECT_EQ(fixed.nodes[3].int_or("multiplier", 0), 1 << 20);
  EXPECT_EQ(fixed.nodes[4].int_or("input_shift", 0), 17);
  EXPECT_EQ(fixed.nodes[7].int_or("input_shift", 0), 23);
  EXPECT_LT(net.error(fixed), 2e-4);
}

void expect_valid(const Graph& graph) {
  Diagnostics problems;
  verify(graph, problems);
  EXPECT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
}

TEST(FixedPointLowering, TablesOfEveryFraction) {
  for (int fraction = 0; fraction <= 30; ++fraction) {
    for (const char* function : {"Sigmoid", "Tanh", "HardSigmoid", "LeakyRelu"}) {
      Net net({1, 3});
      const ValueId v = net.node("MatMul", {net.x, net.weights({3, 4}, 0.25)}, {1, 4});
      const Graph fixed = to_fixed_point(net.finish(net.node(function, {v}, {1, 4})), fraction);
      SCOPED_TRACE(std::string(function) + ", fraction " + std::to_string(fraction));
      expect_valid(fixed);
      EXPECT_LT(net.error(fixed), fraction < 10 ? 8 : 0.02);
    }
  }
}

TEST(FixedPointLowering, MeansOfNothingStayInFloat) {
  Net net({1, 2, 4, 4});
  const auto list = [&](int64_t number) {
    return net.graph.add_constant("list", Tensor::of<int64_t>({1}, {number}));
  };
  ValueId v = net.node("Conv", {net.x, net.weights({2, 2, 1, 1})}, {1, 2, 4, 4});
  v = net.node("Slice", {v, list(0), list(0), list(2)}, {1, 2, 0, 4});
  v = net.node("ReduceMean", {v}, {1, 2, 1, 1}, {{"axes", Ints{2, 3}}});
  FixedPointReport report;
  expect_valid(to_fixed_point(net.finish(v), kQ22, &report));
  EXPECT_EQ(report.records.back().reason, "its window holds no elements");
}

// A Pad that repeats elements may carry a number, which it ignores.
TEST(FixedPointLowering, PadsOfEveryMode) {
  for (const char* mode : {"constant", "reflect", "edge"}) {
    for (const char* number : {"absent", "constant", "computed"}) {
      Net net({1, 2, 4, 4});
      const ValueId v = net.node("Conv", {net.x, net.weights({2, 2, 1, 1})}, {1, 2, 4, 4});
      std::vector<ValueId> inputs{
          v, net.graph.add_constant("pads", Tensor::of<int64_t>({8}, {0, 0, 1, 0, 0, 0, 0, 2}))};
      if (std::string(number) == "constant") inputs.push_back(net.scalar(0.75f));
      if (std::string(number) == "computed")
        inputs.push_back(net.node("ReduceMax", {v}, {}, {{"keepdims", int64_t{0}}}));
      const Graph fixed = to_fixed_point(
          net.finish(net.node("Pad", inputs, {1, 2, 5, 6}, {{"mode", std::string(mode)}})), kQ22);
      SCOPED_TRACE(std::string(mode) + ", number " + number);
      expect_valid(fixed);
      const auto pad =
          std::find_if(fixed.nodes.begin(), fixed.nodes.end(), [](const Node& n) { return n.is("Pad"); });
      ASSERT_NE(pad, fixed.nodes.end());
      const bool writes = std::string(mode) == "constant" && std::string(number) != "absent";
      EXPECT_EQ(pad->inputs.size(), writes ? 3u : 2u);
      EXPECT_LT(net.error(fixed), 1e-5);
    }
  }
}

// The layer's i32 value would have the name of the output.
TEST(FixedPointLowering, OutputsKeepTheirNames) {
  Net net({1, 3});
  const ValueId dense = net.node("MatMul", {net.x, net.weights({3, 4})}, {1, 4});
  const ValueId y = net.node("Softmax", {dense}, {1, 4});
  net.graph.value(y).name = net.graph.value(dense).name + "_fixed";
  FixedPointReport report;
  const Graph fixed = to_fixed_point(net.finish(y), kQ22, &report);
  expect_valid(fixed);
  EXPECT_EQ(fixed.value(fixed.outputs[0]).name, net.graph.value(y).name);
  ASSERT_EQ(report.meanings.size(), 2u);
  EXPECT_EQ(report.meanings[1].fixed, fixed.value(fixed.nodes[1].outputs[0]).name);
  EXPECT_EQ(report.meanings[1].source, net.graph.value(dense).name);
}

TEST(FixedPointLowering, ConstantsAreAddedAndSubtracted) {
  Net net({2, 5});
  ValueId v = net.node("MatMul", {net.x, net.weights({5, 6})}, {2, 6});
  v = net.node("Add", {v, net.weights({6})}, {2, 6});
  v = net.node("Sub", {v, net.scalar(0.75f)}, {2, 6});
  const Graph fixed = to_fixed_point(net.finish(v), kQ22);
  EXPECT_EQ(operators(fixed), (Names{"FixedEncode", "FixedGemm", "FixedAdd", "FixedAdd", "FixedDecode"}));
  EXPECT_LT(net.error(fixed), 1e-5);
}

// A dense layer over more than two axes is flattened, computed and given its axes again: of the three, the
// layer does the work.
TEST(FixedPointLowering, DenseLayersOfManyAxes) {
  Net net({2, 3, 5});
  FixedPointReport report;
  const Graph real = net.finish(net.node("MatMul", {net.x, net.weights({5, 6})}, {2, 3, 6}));
  const Graph fixed = to_fixed_point(real, kQ22, &report);
  EXPECT_EQ(operators(fixed), (Names{"FixedEncode", "Reshape", "FixedGemm", "Reshape", "FixedDecode"}));
  ASSERT_EQ(report.records.size(), 1u);
  EXPECT_EQ(report.records[0].fixed_op, "FixedGemm");
  EXPECT_EQ(fixed.value(fixed.nodes[2].inputs[1]).name, "MatMul_weights");
  EXPECT_LT(net.error(fixed), 1e-5);
}

TEST(FixedPointLowering, ReasonsNameWhatStaysInFloat) {
  Net net({1, 4, 6, 6});
  ValueId v = net.node("Abs", {net.x}, {1, 4, 6, 6});
  v = net.node("Conv", {v, net.weights({4, 4, 1, 1})}, {1, 4, 6, 6});
  v = net.node("HardSwish", {v}, {1, 4, 6, 6});
  v = net.node("Conv", {v, net.weights({4, 4, 1, 1})}, {1, 4, 6, 6});
  v = net.node("AveragePool", {v}, {1, 4, 6, 6}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  FixedPointReport report;
  const Graph fixed = to_fixed_point(net.finish(v), kQ22, &report);
  ASSERT_EQ(report.records.size(), 5u);
  EXPECT_EQ(report.records[0].reason, "none of its inputs is in fixed point");
  EXPECT_EQ(report.records[2].reason, "512 linear pieces do not approximate its function");
  EXPECT_EQ(report.records[4].reason,
            "the average leaves out padding (count_include_pad = 0), so its divisor varies");
  EXPECT_EQ(report.records[1].fixed_op, "FixedConv");
  EXPECT_LT(net.error(fixed), 1e-5);
}

TEST(FixedPointLowering, SaturatingWeightsAreReported) {
  Net net({1, 2});
  const ValueId w = net.graph.add_constant("w", Tensor::of<float>({2, 2}, {1, 700, -512, 3}));
  FixedPointReport report;
  to_fixed_point(net.finish(net.node("MatMul", {net.x, w}, {1, 2})), kQ22, &report);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(
      report.warnings[0],
      "node 'MatMul': 1 of 4 weights saturate at -512..512, the largest magnitude is 700; use a smaller "
      "fraction");
  report = {};
  to_fixed_point(net.graph, 20, &report);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_THROW(to_fixed_point(net.graph, 31), Error);
}

TEST(FixedPointLowering, NumberTypesByName) {
  EXPECT_EQ(fraction_of_number_type("q10.22"), 22);
  EXPECT_EQ(fraction_of_number_type("q32.0"), 0);
  EXPECT_EQ(fraction_of_number_type("q2.30"), 30);
  for (const char* wrong : {"q10.21", "q1.31", "q10.22x", "q-1.33", "10.22", "int4", ""}) {
    EXPECT_THROW(fraction_of_number_type(wrong), Error) << wrong;
  }
}

TEST(FixedPointLowering, SamplesShowSumsAndSaturation) {
  Net net({1, 2});
  const ValueId w = net.graph.add_constant("w", Tensor::of<float>({2, 2}, {100, 0, 0, 1}));
  ValueId v = net.node("MatMul", {net.x, w}, {1, 2});
  const Graph fixed = to_fixed_point(net.finish(net.node("Add", {v, v}, {1, 2})), kQ22);
  FixedPointCheck check = check_fixed_point(fixed, {Tensor::of<float>({2, 2}, {2, 1, -1, 400})});
  ASSERT_EQ(check.nodes.size(), 3u);
  EXPECT_EQ(check.nodes[1].op, "FixedGemm");
  EXPECT_EQ(check.nodes[1].largest_sum, 400);
  EXPECT_EQ(check.nodes[1].saturated, 0);
  EXPECT_EQ(check.nodes[1].outputs, 4);
  EXPECT_EQ(check.nodes[2].saturated, 1) << "400 + 400";
  EXPECT_FALSE(check.may_wrap());
  check = check_fixed_point(fixed, {Tensor::of<float>({2, 2}, {6, 600, -1, 1})});
  EXPECT_EQ(check.nodes[0].saturated, 1);
  EXPECT_EQ(check.nodes[1].largest_sum, 600);
  EXPECT_EQ(check.nodes[1].saturated, 1);
  EXPECT_EQ(to_string(check).substr(0, 58), "largest sum 600; 4 of 12 results saturate; no sum wraps\nno");
}

// 3 * 511 * 500 of 2^-44 each passes 2^63; whichever row of weights it is.
TEST(FixedPointLowering, SumsThatMayWrapAreReported) {
  for (const bool first : {true, false}) {
    Net net({1, 3});
    const float a = first ? 500.0f : 0.0f, b = first ? 0.0f : 500.0f;
    const ValueId w = net.graph.add_constant("w", Tensor::of<float>({3, 2}, {a, b, a, b, a, b}));
    const Graph fixed = to_fixed_point(net.finish(net.node("MatMul", {net.x, w}, {1, 2})), kQ22);
    EXPECT_TRUE(check_fixed_point(fixed, {Tensor::of<float>({1, 3}, {511, 511, 511})}).may_wrap());
    EXPECT_FALSE(check_fixed_point(fixed, {Tensor::of<float>({1, 3}, {100, 100, 100})}).may_wrap());
  }
}

}  // namespace
}  // namespace tilewright
