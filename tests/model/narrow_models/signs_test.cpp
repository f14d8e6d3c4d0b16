// Networks of signs: the integer form takes the same decisions as the float graph, in every bit.
#include "tilewright/quantize/integerize/signs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

class SignNetwork {
 public:
  explicit SignNetwork(uint64_t seed) : random_(seed) {}
  Graph graph;

  ValueId node(const std::string& op, std::vector<ValueId> inputs, Shape shape,
               ElementType type = ElementType::kF32, Attributes attributes = {}) {
    const ValueId out = graph.add_value(op + "_out", type, std::move(shape));
    graph.add_node(op, op, std::move(inputs), {out}).attributes = std::move(attributes);
    return out;
  }
  ValueId number(float value) { return graph.add_constant("number", Tensor::scalar(value)); }
  ValueId sign(ValueId x, float scale) {
    const Shape shape = graph.value(x).shape;
    const ValueId positive = node("GreaterOrEqual", {x, number(0)}, shape, ElementType::kBool);
    return node("Where", {positive, number(scale), number(-scale)}, shape);
  }
  // Signs, or with `zeros` ternary weights, times one scale of either sign per channel of `axis`.
  ValueId weights(const Shape& shape, int axis, bool zeros) {
    int64_t inner = 1;
    for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
    std::vector<float> scales;
    for (int64_t o = 0; o < shape[axis]; ++o) scales.push_back(float(random_.uniform() + 0.1));
    Tensor w(ElementType::kF32, shape);
    for (int64_t i = 0; i < w.size(); ++i) {
      const float magnitude = zeros && random_.chance(0.3) ? 0.0f : scales[size_t(i / inner % shape[axis])];
      w.mutable_data<float>()[size_t(i)] = random_.chance(0.5) ? magnitude : -magnitude;
    }
    return graph.add_constant("w", std::move(w));
  }
  ValueId bias(int64_t channels) {
    Tensor b(ElementType::kF32, {channels});
    for (float& v : b.mutable_data<float>()) v = float(random_.uniform() * 6 - 3);
    return graph.add_constant("b", std::move(b));
  }
  Tensor numbers(const Shape& shape) {
    Tensor t(ElementType::kF32, shape);
    for (float& v : t.mutable_data<float>()) v = float(random_.uniform() * 2 - 1);
    return t;
  }

 private:
  Random random_;
};

int count(const Graph& graph, const std::string& op) {
  int found = 0;
  for (const Node& node : graph.nodes) found += node.op == op;
  return found;
}

TEST(Signs, DenseNetworksDecideAsInFloat) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SignNetwork net(seed);
    const Shape input{3, 20};
    ValueId x = net.sign(net.graph.add_input("x", ElementType::kF32, input), 0.5f);
    for (const int64_t outputs : {17, 24}) {
      const int64_t inputs = net.graph.value(x).shape[1];
      const ValueId w = net.weights({inputs, outputs}, 1, seed % 2 == 0);
      x = net.sign(net.node("Gemm", {x, w, net.bias(outputs)}, {3, outputs}), seed % 3 == 0 ? 2.0f : 1.0f);
    }
    net.graph.outputs = {x};
    ASSERT_TRUE(is_quantized(net.graph));
    IntegerizeReport report;
    const Graph integer = integerize(net.graph, &report);
    Diagnostics problems;
    verify(integer, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    EXPECT_EQ(count(integer, "QGemm"), 2);
    EXPECT_EQ(count(integer, "Gemm"), 0);
    for (const Node& node : integer.nodes) {
      EXPECT_TRUE(node.op != "QGemm" || value_range(integer, node.outputs[0]).bipolar);
    }
    const Tensor in = net.numbers(input);
    EXPECT_EQ(run(integer, {in})[0].to_floats(), run(net.graph, {in})[0].to_floats());
  }
}

TEST(Signs, ConvolutionsAndThresholdsOfActivations) {
  SignNetwork net(3);
  const Shape input{2, 3, 6, 6};
  const ValueId x = net.sign(net.graph.add_input("x", ElementType::kF32, input), 1);
  const ValueId conv = net.node("Conv", {x, net.weights({5, 3, 3, 3}, 0, false), net.bias(5)}, {2, 5, 4, 4},
                                ElementType::kF32, {{"kernel_shape", std::vector<int64_t>{3, 3}}});
  net.graph.outputs = {net.sign(conv, 1)};
  const Graph integer = integerize(net.graph);
  EXPECT_EQ(count(integer, "QConv"), 1);
  EXPECT_EQ(count(integer, "Conv"), 0);
  const Tensor in = net.numbers(input);
  EXPECT_EQ(run(integer, {in})[0].to_floats(), run(net.graph, {in})[0].to_floats());
}

TEST(Signs, TernaryConstantsHaveOneMagnitudePerChannel) {
  const Tensor w = Tensor::of<float>({2, 3}, {0.5f, -0.5f, 0, -3, 3, 3});
  const auto rows = ternary_constant(w, 0);
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->integers.to_integers(), (std::vector<int64_t>{1, -1, 0, -1, 1, 1}));
  EXPECT_EQ(rows->scales, (std::vector<float>{0.5f, 3}));
  EXPECT_FALSE(ternary_constant(w, 1).has_value());
  EXPECT_FALSE(ternary_constant(Tensor::of<float>({2, 1}, {1, NAN}), 0).has_value());
}

TEST(Signs, OtherSelectionsAreNoSigns) {
  SignNetwork net(4);
  const ValueId x = net.graph.add_input("x", ElementType::kF32, {4});
  const ValueId condition = net.node("GreaterOrEqual", {x, net.number(1)}, {4}, ElementType::kBool);
  net.graph.outputs = {net.node("Where", {condition, net.number(1), net.number(-1)}, {4})};
  EXPECT_FALSE(is_quantized(net.graph));
  SignNetwork uneven(5);
  const ValueId y = uneven.graph.add_input("x", ElementType::kF32, {4});
  const ValueId positive = uneven.node("GreaterOrEqual", {y, uneven.number(0)}, {4}, ElementType::kBool);
  uneven.graph.outputs = {uneven.node("Where", {positive, uneven.number(2), uneven.number(-1)}, {4})};
  EXPECT_FALSE(is_quantized(uneven.graph));
}

}  // namespace
}  // namespace tilewright
