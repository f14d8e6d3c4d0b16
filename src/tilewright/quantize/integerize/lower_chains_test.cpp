// Chains of float operators that amount to a function of one value, products, factors per channel and layers
// with one spatial axis.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/quantize/qdq_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {
namespace {

using Chain = std::function<ValueId(QdqGraphBuilder&, ValueId)>;

const Shape kBytes{256};

Tensor all_bytes() {
  Tensor x(ElementType::kI8, kBytes);
  for (int64_t i = 0; i < 256; ++i) x.set_integer(i, i - 128);
  return x;
}

ValueId number(QdqGraphBuilder& g, float value) {
  return g.graph.add_constant("number", Tensor::scalar(value));
}
ValueId op(QdqGraphBuilder& g, const char* name, std::vector<ValueId> inputs) {
  return g.node(name, std::move(inputs), kBytes);
}

// The integer form of the chain between two quantisations is one table, which holds `function`.
void expect_one_table(const Chain& chain, const std::function<double(double)>& function) {
  Random random(71);
  for (int round = 0; round < 20; ++round) {
    const Quantization in{float(std::ldexp(1 + random.uniform(), int(random.between(-7, -4)))),
                          int32_t(random.between(-100, 100))};
    const Quantization out{float(std::ldexp(1 + random.uniform(), int(random.between(-8, -4)))),
                           int32_t(random.between(-100, 100))};
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, kBytes);
    g.graph.outputs = {g.quantize(chain(g, g.dequantize(x, in)), out)};
    const Graph integer = integerize(g.graph);
    ASSERT_EQ(integer.nodes.size(), 1u);
    ASSERT_TRUE(integer.nodes[0].is_tilewright("QLookup")) << integer.nodes[0].op;
    const Tensor y = run(integer, {all_bytes()})[0];
    for (int64_t i = 0; i < 256; ++i) {
      const double real = function(double(in.scale) * double(i - 128 - in.zero_point)) / double(out.scale);
      const double tie = std::abs(real - std::floor(real) - 0.5);
      const double expected = std::clamp(std::floor(real + 0.5) + out.zero_point, -128.0, 127.0);
      ASSERT_NEAR(double(y.integer_at(i)), expected, tie < 1e-5 ? 1 : 0) << i - 128;
    }
  }
}

TEST(LowerChains, ActivationsThatExportersSpellOut) {
  expect_one_table(
      [](auto& g, ValueId x) {
        return op(g, "Mul", {x, op(g, "Sigmoid", {x})});
      },
      [](double x) { return x / (1 + std::exp(-x)); });
  expect_one_table(
      [](auto& g, ValueId x) {
        const ValueId gate = op(g, "Clip", {op(g, "Add", {x, number(g, 3)}), number(g, 0), number(g, 6)});
        return op(g, "Div", {op(g, "Mul", {x, gate}), number(g, 6)});
      },
      [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; });
  expect_one_table(
      [](auto& g, ValueId x) {
        return op(g, "Mul", {op(g, "Tanh", {op(g, "Softplus", {x})}), x});
      },
      [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  expect_one_table(
      [](auto& g, ValueId x) {
        const ValueId erf = op(g, "Erf", {op(g, "Mul", {x, number(g, 0.70710678f)})});
        return op(g, "Mul", {op(g, "Mul", {x, number(g, 0.5f)}), op(g, "Add", {number(g, 1), erf})});
      },
      [](double x) { return x * (1 + std::erf(x * 0.70710678)) / 2; });
  expect_one_table(
      [](auto& g, ValueId x) {
        return op(g, "Sub", {number(g, 1), op(g, "Abs", {x})});
      },
      [](double x) { return 1 - std::abs(x); });
}

TEST(LowerChains, SeveralValuesAreNoTable) {
  QdqGraphBuilder g;
  const ValueId a = g.graph.add_input("a", ElementType::kI8, kBytes),
                b = g.graph.add_input("b", ElementType::kI8, kBytes);
  const ValueId gate = op(g, "Sigmoid", {g.dequantize(b, {0.0625f, 0})});
  g.graph.outputs = {g.quantize(op(g, "Mul", {g.dequantize(a, {0.0625f, 0}), gate}), {0.0625f, 0})};
  IntegerizeReport report;
  integerize(g.graph, &report);
  // The gate itself is not quantised.
  EXPECT_TRUE(std::any_of(report.records.begin(), report.records.end(), [](const IntegerizeRecord& r) {
    return r.reason == "its input 1 is not quantised";
  }));
}

TEST(LowerChains, ProductsOfTwoQuantisedValues) {
  Random random(72);
  for (int round = 0; round < 50; ++round) {
    const auto form = [&](int low, int high) {
      return Quantization{float(std::ldexp(1 + random.uniform(), int(random.between(low, high)))),
                          int32_t(random.between(-128, 127))};
    };
    const Quantization a = form(-8, -3), b = form(-8, -3), y = form(-7, -2);
    const Shape map{2, 3, 4, 5}, gate = random.chance(0.5) ? Shape{2, 3, 1, 1} : map;
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("a", ElementType::kI8, map),
                  w = g.graph.add_input("b", ElementType::kI8, gate);
    g.graph.outputs = {g.quantize(g.node("Mul", {g.dequantize(x, a), g.dequantize(w, b)}, map), y)};
    const Graph integer = integerize(g.graph);
    ASSERT_EQ(integer.nodes.size(), 1u);
    ASSERT_TRUE(integer.nodes[0].is_tilewright("QMul"));
    Tensor left(ElementType::kI8, map), right(ElementType::kI8, gate);
    for (int64_t i = 0; i < left.size(); ++i) left.set_integer(i, random.between(-128, 127));
    for (int64_t i = 0; i < right.size(); ++i) right.set_integer(i, random.between(-128, 127));
    const Tensor result = run(integer, {left, right})[0];
    for (int64_t i = 0; i < left.size(); ++i) {
      const int64_t j = gate == map ? i : i / 20;
      const double real = double(a.scale) * double(left.integer_at(i) - a.zero_point) * double(b.scale) *
                          double(right.integer_at(j) - b.zero_point) / double(y.scale);
      const double expected = std::clamp(std::floor(real + 0.5) + y.zero_point, -128.0, 127.0);
      const double tie = std::abs(real - std::floor(real) - 0.5);
      ASSERT_NEAR(double(result.integer_at(i)), expected, tie < 1e-4 ? 1 : 0);
    }
  }
}

TEST(LowerChains, FactorsPerChannel) {
  Random random(73);
  for (int round = 0; round < 30; ++round) {
    const Quantization in{float(std::ldexp(1 + random.uniform(), -6)), int32_t(random.between(-128, 127))};
    const Quantization out{float(std::ldexp(1 + random.uniform(), -5)), int32_t(random.between(-128, 127))};
    const bool row = random.chance(0.5);
    const Shape shape = row ? Shape{1, 6, 9} : Shape{1, 6, 3, 3};
    const auto numbers = [&](double low, double high) {
      Tensor tensor(ElementType::kF32, Shape{6});
      for (int64_t c = 0; c < 6; ++c) tensor.set_number(c, low + (high - low) * random.uniform());
      return tensor;
    };
    Tensor scale = numbers(-2, 2);
    if (random.chance(0.3)) scale.set_number(2, 0);
    const Tensor shift = numbers(-1, 1), mean = numbers(-1, 1), variance = numbers(0.5, 2);
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, shape);
    const ValueId y =
        g.node("BatchNormalization",
               {g.dequantize(x, in), g.graph.add_constant("s", scale), g.graph.add_constant("b", shift),
                g.graph.add_constant("m", mean), g.graph.add_constant("v", variance)},
               shape);
    g.graph.outputs = {g.quantize(y, out)};
    const Graph integer = integerize(g.graph);
    ASSERT_EQ(integer.nodes.size(), row ? 3u : 1u);
    EXPECT_EQ(integer.nodes[row ? 1 : 0].op, "QConv");
    Tensor given(ElementType::kI8, shape);
    for (int64_t i = 0; i < given.size(); ++i) given.set_integer(i, random.between(-128, 127));
    const Tensor result = run(integer, {given})[0];
    for (int64_t i = 0; i < given.size(); ++i) {
      const int64_t c = i / 9;
      const double real =
          (double(in.scale) * double(given.integer_at(i) - in.zero_point) - mean.number_at(c)) /
              std::sqrt(variance.number_at(c) + 1e-5) * scale.number_at(c) +
          shift.number_at(c);
      // The bias is a multiple of 1/64 of the input's step.
      const double exact = real / double(out.scale),
                   slack = std::abs(scale.number_at(c)) * 1.5 * double(in.scale) / double(out.scale) / 128;
      const double low = std::floor(exact - slack + 0.5), high = std::floor(exact + slack + 0.5 + 1e-6);
      ASSERT_GE(double(result.integer_at(i)), std::clamp(low + out.zero_point, -128.0, 127.0) - 1e-9) << i;
      ASSERT_LE(double(result.integer_at(i)), std::clamp(high + out.zero_point, -128.0, 127.0) + 1e-9) << i;
    }
  }
}

TEST(LowerChains, OneSpatialAxisIsAnImageOfOneRow) {
  Random random(74);
  for (int round = 0; round < 30; ++round) {
    const int64_t kernel = random.between(1, 5), stride = random.between(1, 3),
                  pad = random.between(0, kernel - 1);
    const Quantization in{0.05f, int32_t(random.between(-20, 20))}, out{0.4f, 3};
    Tensor weights(ElementType::kI8, {4, 3, kernel});
    for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, random.between(-127, 127));
    const auto graph_of = [&](bool row) {
      QdqGraphBuilder g;
      const Shape shape = row ? Shape{2, 3, 20} : Shape{2, 3, 1, 20};
      const Tensor w = row ? weights : weights.reshaped({4, 3, 1, kernel});
      const int64_t length = (20 + 2 * pad - kernel) / stride + 1;
      const ValueId x = g.graph.add_input("x", ElementType::kI8, shape);
      using Ints = std::vector<int64_t>;
      const Attributes attributes{{"strides", row ? Ints{stride} : Ints{1, stride}},
                                  {"pads", row ? Ints{pad, pad} : Ints{0, pad, 0, pad}}};
      const ValueId y = g.node("Conv", {g.dequantize(x, in), g.constant(w, 0.01f)},
                               row ? Shape{2, 4, length} : Shape{2, 4, 1, length}, attributes);
      g.graph.outputs = {g.quantize(y, out)};
      return integerize(g.graph);
    };
    Tensor x(ElementType::kI8, {2, 3, 20});
    for (int64_t i = 0; i < x.size(); ++i) x.set_integer(i, random.between(-128, 127));
    const Tensor row = run(graph_of(true), {x})[0],
                 image = run(graph_of(false), {x.reshaped({2, 3, 1, 20})})[0];
    EXPECT_TRUE(row.identical(image.reshaped(row.shape()))) << "round " << round;
  }
}

// Bilinear enlarging by whole factors is a transposed convolution, within one step of the float operator.
TEST(LowerChains, LinearResize) {
  Random random(79);
  for (int round = 0; round < 80; ++round) {
    const bool row = random.chance(0.2);
    const int64_t fy = row ? 1 : random.between(1, 5), fx = random.between(1, 9);
    const int64_t height = row ? 1 : random.between(1, 5), width = random.between(1, 5);
    const Shape from = row ? Shape{1, 3, width} : Shape{2, 3, height, width};
    const Shape to = row ? Shape{1, 3, width * fx} : Shape{2, 3, height * fy, width * fx};
    const char* const places[] = {"half_pixel", "pytorch_half_pixel", "asymmetric"};
    const char* const place = places[random.between(0, 2)];
    const Quantization in{float(std::ldexp(1 + random.uniform(), -6)), int32_t(random.between(-100, 100))};
    const Quantization out =
        random.chance(0.5) ? in : Quantization{in.scale * float(0.7 + random.uniform()), in.zero_point / 2};
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, from);
    const ValueId real = g.dequantize(x, in);
    const std::vector<float> factors =
        row ? std::vector<float>{1, 1, float(fx)} : std::vector<float>{1, 1, float(fy), float(fx)};
    const ValueId scales = g.graph.add_constant(
        "scales", Tensor(Shape{int64_t(factors.size())}, std::span<const float>(factors)));
    const ValueId y =
        g.node("Resize", {real, kNoValue, scales}, to,
               {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string(place)}});
    g.graph.outputs = {g.quantize(y, out)};
    const Graph integer = integerize(g.graph);
    for (const Node& node : integer.nodes) {
      ASSERT_TRUE(node.is("Pad") || node.is("Reshape") || node.is_tilewright("QConvTranspose")) << node.op;
    }
    Tensor image(ElementType::kI8, from);
    for (int64_t i = 0; i < image.size(); ++i) image.set_integer(i, random.between(-128, 127));
    const Tensor expected = run(g.graph, {image})[0], got = run(integer, {image})[0];
    ASSERT_EQ(got.shape(), expected.shape());
    int64_t different = 0;
    for (int64_t i = 0; i < got.size(); ++i) {
      const int64_t distance = std::abs(got.integer_at(i) - expected.integer_at(i));
      ASSERT_LE(distance, 1) << place << ' ' << fy << ' ' << fx << " at " << i;
      different += distance;
    }
    // At the halves between two steps, which is half of what lies between two inputs.
    ASSERT_LE(different, got.size() * 2 / 3) << place << ' ' << fy << ' ' << fx;
  }
}

TEST(LowerChains, LinearResizeByOtherFactorsStaysInFloat) {
  for (const auto& [width, place] : {std::pair{7, "half_pixel"}, {8, "align_corners"}}) {
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, {1, 2, 4, 4});
    const ValueId sizes = g.graph.add_constant(
        "sizes", Tensor(Shape{4}, std::span<const int64_t>(std::vector<int64_t>{1, 2, 4, width})));
    const ValueId y =
        g.node("Resize", {g.dequantize(x, {0.5F, 0}), kNoValue, kNoValue, sizes}, {1, 2, 4, width},
               {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string(place)}});
    g.graph.outputs = {g.quantize(y, {0.5F, 0})};
    const Graph integer = integerize(g.graph);
    EXPECT_TRUE(std::any_of(integer.nodes.begin(), integer.nodes.end(),
                            [](const Node& node) { return node.is("Resize"); }));
  }
}

}  // namespace
}  // namespace tilewright
