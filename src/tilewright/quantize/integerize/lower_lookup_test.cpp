#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/quantize/qdq_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

struct Case {
  const char* op;
  Attributes attributes;
  std::function<double(double)> function;
};

std::vector<Case> cases() {
  return {
      {"Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"HardSwish", {}, [](double x) { return x * std::min(1.0, std::max(0.0, (x + 3) / 6)); }},
      {"HardSigmoid",
       {{"alpha", 0.25f}},
       [](double x) { return std::min(1.0, std::max(0.0, 0.25 * x + 0.5)); }},
      {"LeakyRelu", {{"alpha", 0.125f}}, [](double x) { return x < 0 ? 0.125 * x : x; }},
      {"Elu", {{"alpha", 0.5f}}, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {"Softplus", {}, [](double x) { return std::log(1 + std::exp(x)); }},
      {"Softsign", {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"ThresholdedRelu", {{"alpha", 1.5f}}, [](double x) { return x > 1.5 ? x : 0.0; }},
  };
}

Tensor every_byte() {
  Tensor x(ElementType::kI8, {256});
  for (int64_t i = 0; i < 256; ++i) x.set_integer(i, i - 128);
  return x;
}

// DequantizeLinear -> function -> QuantizeLinear in double, ties half up.
TEST(LowerLookup, EveryFunctionIsExactForEveryInput) {
  const uint64_t seed = 9300;
  Random random(seed);
  for (const Case& c : cases()) {
    for (int round = 0; round < 50; ++round) {
      const Quantization in{float(std::ldexp(1 + random.uniform(), int(random.between(-8, -2)))),
                            int32_t(random.between(-128, 127))};
      const Quantization out{float(std::ldexp(1 + random.uniform(), int(random.between(-9, -3)))),
                             int32_t(random.between(-128, 127))};
      QdqGraphBuilder g;
      const ValueId x = g.graph.add_input("x", ElementType::kI8, {256});
      g.graph.outputs = {g.quantize(g.node(c.op, {g.dequantize(x, in)}, {256}, c.attributes), out)};
      const Graph integer = integerize(g.graph);
      ASSERT_EQ(integer.nodes.size(), 1u) << c.op;
      ASSERT_TRUE(integer.nodes[0].is_tilewright("QLookup")) << c.op;
      const Tensor y = run(integer, {every_byte()})[0];
      for (int64_t i = 0; i < 256; ++i) {
        const double real = c.function(double(in.scale) * double(i - 128 - in.zero_point));
        const double quotient = real / double(out.scale);
        const double tie = std::abs(quotient - std::floor(quotient) - 0.5);
        const double expected = std::clamp(std::floor(quotient + 0.5) + out.zero_point, -128.0, 127.0);
        // The functions here are written differently: within double rounding of a tie both are right.
        ASSERT_NEAR(double(y.integer_at(i)), expected, tie < 1e-9 ? 1 : 0)
            << c.op << " of " << i - 128 << " round " << round << " seed " << seed;
      }
    }
  }
}

TEST(LowerLookup, TiesGoUp) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kI8, {256});
  const ValueId y = g.node("LeakyRelu", {g.dequantize(x, {0.5f, 0})}, {256}, {{"alpha", 0.5f}});
  g.graph.outputs = {g.quantize(y, {1, 0})};
  const Tensor integers = run(integerize(g.graph), {every_byte()})[0];
  EXPECT_EQ(integers.integer_at(128 + 1), 1);   // 0.5
  EXPECT_EQ(integers.integer_at(128 - 2), 0);   // -0.5
  EXPECT_EQ(integers.integer_at(128 - 6), -1);  // -1.5
}

TEST(LowerLookup, ClipsBehindTheFunctionEnterTheTable) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kI8, {256});
  const ValueId y = g.node("Tanh", {g.dequantize(x, {0.03125f, 0})}, {256});
  g.graph.outputs = {g.quantize(g.node("Relu", {y}, {256}), {1 / 64.0f, 0})};
  const Graph integer = integerize(g.graph);
  ASSERT_EQ(integer.nodes.size(), 1u);
  EXPECT_EQ(run(integer, {every_byte()})[0].integer_at(0), 0);
}

TEST(LowerLookup, FloatInputsKeepTheFunctionInFloat) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {4});
  g.graph.outputs = {g.rounded(g.node("Sigmoid", {x}, {4}), {1 / 256.0f, -128})};
  IntegerizeReport report;
  integerize(g.graph, &report);
  ASSERT_FALSE(report.records.empty());
  EXPECT_EQ(report.records[0].integer_op, "");
  EXPECT_EQ(report.records[0].reason, "its input is not quantised");
}

}  // namespace
}  // namespace tilewright
