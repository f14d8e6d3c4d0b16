// Models in the QLinear form, lowered to integer operators, against the host engine's QLinear kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/quantize/qdq_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

// u8 or i8 input -> QLinearConv -> MaxPool -> Reshape -> QLinearMatMul -> output of the same kind.
struct QLinearGraph : QdqGraphBuilder {
  explicit QLinearGraph(uint64_t seed) : random(seed) {
    type = random.chance(0.5) ? ElementType::kU8 : ElementType::kI8;
    const ValueId x = graph.add_input("x", type, {1, 3, 8, 8});
    const Quantization in = activation(0.05), middle = activation(0.15), out = activation(0.6);
    const int64_t channels = random.between(1, 6);
    std::vector<ValueId> inputs{x};
    add(inputs, in);
    add_weights(inputs, {channels, 3, 3, 3}, channels);
    add(inputs, middle);
    if (random.chance(0.7))
      inputs.push_back(graph.add_constant("bias", integers(ElementType::kI32, {channels}, 8000)));
    const int64_t pad = random.between(0, 1), size = 6 + 2 * pad;
    const ValueId conv = node("QLinearConv", inputs, {1, channels, size, size},
                              {{"pads", std::vector<int64_t>{pad, pad, pad, pad}}}, type);
    const ValueId pooled =
        node("MaxPool", {conv}, {1, channels, size / 2, size / 2},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}, type);
    const int64_t depth = channels * size * size / 4;
    const ValueId flat = node("Flatten", {pooled}, {1, depth}, {}, type);
    inputs = {flat};
    add(inputs, middle);
    add_weights(inputs, {depth, 5}, 5);
    add(inputs, out);
    graph.outputs = {node("QLinearMatMul", inputs, {1, 5}, {}, type)};
  }

  Quantization activation(double scale) {
    return {float(scale * (0.7 + 0.6 * random.uniform())),
            int32_t(random.between(lowest(type), highest(type)))};
  }
  Tensor integers(ElementType element, Shape shape, int64_t magnitude = 1 << 20) {
    Tensor tensor(element, std::move(shape));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set_integer(
          i, random.between(std::max(-magnitude, lowest(element)), std::min(magnitude, highest(element))));
    }
    return tensor;
  }
  void add(std::vector<ValueId>& inputs, const Quantization& q) {
    inputs.push_back(graph.add_constant("scale", Tensor::scalar(q.scale)));
    inputs.push_back(zero_point(type, q.zero_point));
  }
  void add_weights(std::vector<ValueId>& inputs, Shape shape, int64_t channels) {
    const bool per_channel = random.chance(0.5);
    const ElementType element = !per_channel && random.chance(0.5) ? ElementType::kU8 : ElementType::kI8;
    inputs.push_back(graph.add_constant("weights", integers(element, std::move(shape))));
    Tensor scales(ElementType::kF32, per_channel ? Shape{channels} : Shape{});
    for (float& s : scales.mutable_data<float>()) s = float(0.01 * (0.7 + 0.6 * random.uniform()));
    Tensor zeros(element, scales.shape());
    for (int64_t i = 0; i < zeros.size(); ++i) zeros.set_integer(i, element == ElementType::kU8 ? 128 : 0);
    inputs.push_back(graph.add_constant("weight_scale", scales));
    inputs.push_back(graph.add_constant("weight_zero_point", zeros));
  }

  Random random;
  ElementType type = ElementType::kU8;
};

// Both graphs are sound.
Graph wholly_integer(const Graph& graph) {
  Diagnostics problems;
  verify(graph, problems);
  IntegerizeReport report;
  Graph integer = integerize(graph, &report);
  verify(integer, problems);
  problems.raise_if_any();
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  return integer;
}

TEST(QLinear, IntegerOperatorsEqualTheQLinearKernels) {
  int64_t numbers = 0, different = 0;
  constexpr uint64_t kSeed = 5000;
  for (uint64_t seed = kSeed; seed < kSeed + 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    QLinearGraph built(seed);
    const Graph integer = wholly_integer(built.graph);
    EXPECT_EQ(std::count_if(integer.nodes.begin(), integer.nodes.end(),
                            [](const Node& node) { return node.domain == kTilewrightDomain; }),
              2);
    const Tensor x = built.integers(built.type, {1, 3, 8, 8});
    const Tensor expected = run(built.graph, {x})[0], actual = run(integer, {x})[0];
    ASSERT_EQ(actual.type(), expected.type());
    for (int64_t i = 0; i < actual.size(); ++i) {
      ++numbers;
      different += actual.integer_at(i) != expected.integer_at(i);
      ASSERT_NEAR(double(actual.integer_at(i)), double(expected.integer_at(i)), 1) << "element " << i;
    }
  }
  // A tie in the first layer, or float rounding of the kernels, may move a result by one.
  EXPECT_LE(different, numbers / 100);
}

// x -> QuantizeLinear -> ConvInteger -> Cast -> Mul -> Add -> Relu -> QuantizeLinear -> MatMulInteger -> Cast
// -> Mul -> QuantizeLinear -> DequantizeLinear.
struct IntegerProducts : QLinearGraph {
  explicit IntegerProducts(uint64_t seed) : QLinearGraph(seed) {
    graph = Graph();
    ValueId v = graph.add_input("x", ElementType::kF32, {1, 2, 5, 5});
    const Quantization in = activation(0.05), middle = activation(0.1), out = activation(0.3);
    v = quantize(v, in, type);
    const ElementType element = random.chance(0.5) ? ElementType::kU8 : ElementType::kI8;
    const int64_t weight_zero = element == ElementType::kU8 ? 120 : 0;
    v = node("ConvInteger",
             {v, graph.add_constant("w", integers(element, {3, 2, 3, 3})), zero_point(type, in.zero_point),
              zero_point(element, weight_zero)},
             {1, 3, 3, 3}, {}, ElementType::kI32);
    v = scaled(v, random.chance(0.5) ? Shape{1, 3, 1, 1} : Shape{}, in.scale * 0.01);
    const Tensor bias = Tensor::of<float>({1, 3, 1, 1}, {0.5f, -1.0f, 0.25f});
    v = node("Relu", {node("Add", {graph.add_constant("bias", bias), v}, {1, 3, 3, 3})}, {1, 3, 3, 3});
    v = node("Flatten", {quantize(v, middle, type)}, {1, 27}, {}, type);
    v = node("MatMulInteger",
             {v, graph.add_constant("w", integers(ElementType::kI8, {27, 4})),
              zero_point(type, middle.zero_point)},
             {1, 4}, {}, ElementType::kI32);
    v = scaled(v, random.chance(0.5) ? Shape{4} : Shape{1}, middle.scale * 0.01);
    graph.outputs = {rounded(v, out, type)};
    output_scale = out.scale;
  }
  ValueId scaled(ValueId v, Shape shape, double typical) {
    const ValueId real = node("Cast", {v}, graph.value(v).shape, {{"to", int64_t{1}}});
    Tensor scale(ElementType::kF32, std::move(shape));
    for (float& s : scale.mutable_data<float>()) s = float(typical * (0.7 + 0.6 * random.uniform()));
    return node("Mul", {real, graph.add_constant("scale", scale)}, graph.value(v).shape);
  }
  float output_scale = 1;
};

TEST(IntegerProducts, BecomeIntegerOperatorsWithTheirScales) {
  int64_t numbers = 0, different = 0;
  for (uint64_t seed = 900; seed < 1100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    IntegerProducts built(seed);
    const Graph integer = wholly_integer(built.graph);
    std::vector<std::string> names;
    for (const Node& node : integer.nodes) names.push_back(node.op);
    EXPECT_EQ(names,
              (std::vector<std::string>{"QuantizeLinear", "QConv", "Flatten", "QGemm", "DequantizeLinear"}));
    Tensor x(ElementType::kF32, {1, 2, 5, 5});
    for (float& v : x.mutable_data<float>()) v = float(built.random.uniform() * 12 - 6);
    const Tensor expected = run(built.graph, {x})[0], actual = run(integer, {x})[0];
    for (int64_t i = 0; i < actual.size(); ++i) {
      const double steps = (actual.number_at(i) - expected.number_at(i)) / built.output_scale;
      ++numbers;
      different += std::fabs(steps) > 0.5;
      ASSERT_LT(std::fabs(steps), 1.5) << "element " << i;
    }
  }
  // The bias is rounded to whole accumulator units.
  EXPECT_LE(different, numbers / 20);
}

TEST(QLinear, StaysAsItIsWithComputedWeights) {
  QLinearGraph built(3);
  Node& conv = built.graph.nodes[0];
  const Shape shape = built.graph.value(conv.input(3)).shape;
  const ElementType type = built.graph.value(conv.input(3)).type;
  conv.inputs[3] = built.graph.add_input("computed", type, shape);
  IntegerizeReport report;
  const Graph integer = integerize(built.graph, &report);
  Diagnostics problems;
  verify(integer, problems);
  ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
  ASSERT_EQ(report.records[0].op, "QLinearConv");
  EXPECT_EQ(report.records[0].reason, "its weights are not constant");
}

}  // namespace
}  // namespace tilewright
