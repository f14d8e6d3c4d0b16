// Products of two activations, softmax, norms and rotary embedding in integers against the real functions of
// the same integers, in double: how far the results lie from the exact ones, in steps of the output.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/quantize/qdq_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright {
namespace {

constexpr int64_t kRowsPerGraph = 64;

float random_scale(Random& random, int low, int high) {
  return float(std::ldexp(1 + random.uniform(), int(random.between(low, high))));
}

Tensor random_values(Random& random, ElementType type, const Shape& shape) {
  Tensor tensor(type, shape);
  // Whole ranges, narrow ones, and rows with an outlier.
  const int64_t low = lowest(type), high = highest(type);
  const int64_t length = shape[shape.rank() - 1];
  for (int64_t row = 0; row < tensor.size() / length; ++row) {
    const int64_t middle = random.between(low, high),
                  spread = random.between(0, random.chance(0.5) ? 20 : high);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t value = random.between(middle - spread, middle + spread);
      tensor.set_integer(row * length + i,
                         std::clamp(random.chance(0.01) ? random.between(low, high) : value, low, high));
    }
  }
  return tensor;
}

// The largest distance of `actual` from the exact results in steps, clipped results apart, which must be
// equal.
double largest_error(const Tensor& actual, const Quantization& q, const std::vector<double>& exact) {
  double largest = 0;
  const double low = double(lowest(actual.type())), high = double(highest(actual.type()));
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double wanted = std::clamp(exact[size_t(i)] / double(q.scale) + q.zero_point, low, high);
    largest = std::max(largest, std::abs(double(actual.integer_at(i)) - wanted));
  }
  return largest;
}

struct Norm {
  const char* op;
  ElementType in, out;
};

double norm_error(Random& random, const Norm& norm, int64_t channels) {
  const bool wide_in = norm.in == ElementType::kI16, wide_out = norm.out == ElementType::kI16;
  const Quantization in{random_scale(random, wide_in ? -14 : -6, wide_in ? -11 : -3),
                        int32_t(random.between(lowest(norm.in) / 2, highest(norm.in) / 2))};
  const Quantization out{random_scale(random, wide_out ? -14 : -6, wide_out ? -12 : -4),
                         int32_t(random.between(-100, 100))};
  const bool centers = std::string(norm.op) == "LayerNormalization";
  const Shape shape{kRowsPerGraph, channels};
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", norm.in, shape);
  Tensor gamma(ElementType::kF32, {channels}), beta(ElementType::kF32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    gamma.set_number(c, (random.chance(0.2) ? -1 : 1) * (0.2 + 1.5 * random.uniform()));
    beta.set_number(c, 2 * random.uniform() - 1);
  }
  std::vector<ValueId> inputs{g.dequantize(x, in), g.graph.add_constant("gamma", gamma)};
  if (centers) inputs.push_back(g.graph.add_constant("beta", beta));
  const float epsilon = random.chance(0.5) ? 1e-5F : 1e-6F;
  const ValueId y = g.node(norm.op, inputs, shape, {{"epsilon", epsilon}, {"axis", int64_t{-1}}});
  g.graph.outputs = {g.quantize(y, out, norm.out)};
  const Graph integer = integerize(g.graph);
  EXPECT_TRUE(integer.nodes.size() == 1 && integer.nodes[0].is_tilewright("QLayerNorm"));

  const Tensor values = random_values(random, norm.in, shape);
  std::vector<double> exact;
  for (int64_t row = 0; row < kRowsPerGraph; ++row) {
    const auto real = [&](int64_t c) {
      return double(in.scale) * double(values.integer_at(row * channels + c) - in.zero_point);
    };
    double mean = 0, power = 0;
    for (int64_t c = 0; centers && c < channels; ++c) mean += real(c) / double(channels);
    for (int64_t c = 0; c < channels; ++c) power += (real(c) - mean) * (real(c) - mean) / double(channels);
    for (int64_t c = 0; c < channels; ++c) {
      exact.push_back((real(c) - mean) / std::sqrt(power + double(epsilon)) * gamma.number_at(c) +
                      (centers ? beta.number_at(c) : 0));
    }
  }
  return largest_error(run(integer, {values})[0], out, exact);
}

// The bounds are what docs/reference/arithmetic.md states of a million rows.
TEST(LowerRows, NormsAreCloseToTheRealOnes) {
  const struct {
    Norm norm;
    double most;
  } kNorms[] = {{{"LayerNormalization", ElementType::kI8, ElementType::kI8}, 0.51},
                {{"LayerNormalization", ElementType::kI16, ElementType::kI8}, 0.51},
                {{"LayerNormalization", ElementType::kI16, ElementType::kI16}, 2},
                {{"RMSNormalization", ElementType::kI8, ElementType::kI8}, 0.51},
                {{"RMSNormalization", ElementType::kI16, ElementType::kI8}, 0.51},
                {{"RMSNormalization", ElementType::kI8, ElementType::kI16}, 2}};
  for (const auto& [norm, most] : kNorms) {
    double largest = 0;
    for (int64_t i = 0; i < test_cases(20); ++i) {
      Random random((test_seed() + uint64_t(i)) * 1009 + 1);
      largest = std::max(largest, norm_error(random, norm, random.between(16, 800)));
    }
    const std::string text = fmt::format("{} of {} to {}", norm.op, name(norm.in), name(norm.out));
    std::printf("%s: %.3f steps\n", text.c_str(), largest);
    EXPECT_LE(largest, most) << text;
  }
}

TEST(LowerRows, SoftmaxIsCloseToTheRealOne) {
  double largest = 0;
  for (int64_t i = 0; i < test_cases(60); ++i) {
    Random random((test_seed() + uint64_t(i)) * 1013 + 2);
    const int64_t length = random.between(2, 400);
    const Quantization in{random_scale(random, -7, -3), int32_t(random.between(-128, 127))},
        out{1.0F / 256, -128};
    const Shape shape{kRowsPerGraph, length};
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, shape);
    g.graph.outputs = {
        g.quantize(g.node("Softmax", {g.dequantize(x, in)}, shape, {{"axis", int64_t{-1}}}), out)};
    const Graph integer = integerize(g.graph);
    ASSERT_TRUE(integer.nodes.size() == 1 && integer.nodes[0].is_tilewright("QSoftmax"));
    const Tensor values = random_values(random, ElementType::kI8, shape);
    std::vector<double> exact;
    for (int64_t row = 0; row < kRowsPerGraph; ++row) {
      double sum = 0;
      const auto power = [&](int64_t n) {
        return std::exp(double(in.scale) * double(values.integer_at(row * length + n)));
      };
      for (int64_t n = 0; n < length; ++n) sum += power(n);
      for (int64_t n = 0; n < length; ++n) exact.push_back(power(n) / sum);
    }
    const Tensor y = run(integer, {values})[0];
    largest = std::max(largest, largest_error(y, out, exact));
    // Every order of a row gives the same numbers.
    Tensor reversed = values;
    for (int64_t k = 0; k < values.size(); ++k)
      reversed.set_integer(k, values.integer_at(k / length * length + length - 1 - k % length));
    const Tensor back = run(integer, {reversed})[0];
    for (int64_t k = 0; k < values.size(); ++k)
      ASSERT_EQ(back.integer_at(k), y.integer_at(k / length * length + length - 1 - k % length));
  }
  std::printf("softmax: %.3f steps of 1/256\n", largest);
  EXPECT_LE(largest, 0.51);
}

// Against the angles as they are, and against those of the tables in steps of 1/127.
TEST(LowerRows, RotaryIsCloseToTheRealOne) {
  double from_angles = 0, from_tables = 0;
  for (int64_t i = 0; i < test_cases(60); ++i) {
    Random random((test_seed() + uint64_t(i)) * 1021 + 4);
    const int64_t half = random.between(2, 64);
    const Quantization in{random_scale(random, -7, -3), int32_t(random.between(-40, 40))},
        out{in.scale, int32_t(random.between(-9, 9))};
    const Shape shape{kRowsPerGraph, 2 * half};
    Tensor cosines(ElementType::kF32, {kRowsPerGraph, half}), sines = cosines;
    for (int64_t k = 0; k < cosines.size(); ++k) {
      const double angle = double(k / half) * std::pow(1e4, -double(k % half) / double(half));
      cosines.set_number(k, std::cos(angle));
      sines.set_number(k, std::sin(angle));
    }
    QdqGraphBuilder g;
    const ValueId x = g.graph.add_input("x", ElementType::kI8, shape);
    const ValueId c = g.graph.add_constant("cosines", cosines), s = g.graph.add_constant("sines", sines);
    g.graph.outputs = {g.quantize(g.node("RotaryEmbedding", {g.dequantize(x, in), c, s}, shape), out)};
    const Graph integer = integerize(g.graph);
    ASSERT_TRUE(integer.nodes.size() == 1 && integer.nodes[0].is_tilewright("QRotary"));
    const Tensor values = random_values(random, ElementType::kI8, shape), y = run(integer, {values})[0];
    for (const bool rounded : {false, true}) {
      std::vector<double> exact(size_t(values.size()));
      for (int64_t k = 0; k < cosines.size(); ++k) {
        const auto angle = [&](const Tensor& table) {
          const double number = table.number_at(k);
          return rounded ? std::round(number * 127) / 127 : number;
        };
        const int64_t first = k / half * 2 * half + k % half;
        const double a = double(in.scale) * double(values.integer_at(first) - in.zero_point),
                     b = double(in.scale) * double(values.integer_at(first + half) - in.zero_point);
        exact[size_t(first)] = a * angle(cosines) - b * angle(sines);
        exact[size_t(first + half)] = b * angle(cosines) + a * angle(sines);
      }
      double& largest = rounded ? from_tables : from_angles;
      largest = std::max(largest, largest_error(y, out, exact));
    }
  }
  std::printf("rotary: %.3f steps, %.3f with the tables' angles\n", from_angles, from_tables);
  EXPECT_LE(from_tables, 0.5001);
  EXPECT_LE(from_angles, 1.9);
}

// Masks of any shape that broadcasts, on either side of the sum, of any large negative number.
TEST(LowerRows, CausalMasksBecomeAnAttribute) {
  for (int64_t i = 0; i < test_cases(60); ++i) {
    Random random((test_seed() + uint64_t(i)) * 1031 + 5);
    const int64_t heads = random.between(1, 4), tokens = random.between(2, 40);
    const Shape shape{1, heads, tokens, tokens};
    const Shape shapes[] = {{tokens, tokens}, {1, tokens, tokens}, {1, 1, tokens, tokens}, shape};
    const float hidden[] = {-16, -30, -1e9F, std::numeric_limits<float>::lowest(),
                            -std::numeric_limits<float>::infinity()};
    Tensor mask(ElementType::kF32, shapes[random.between(0, 3)]);
    const float number = hidden[random.between(0, 4)];
    for (int64_t k = 0; k < mask.size(); ++k)
      if (k % tokens > k / tokens % tokens) mask.set_number(k, number);
    const bool spoilt = random.chance(0.3);
    if (spoilt) mask.set_number(random.between(0, mask.size() - 1), -3);
    const Quantization in{random_scale(random, -6, -4), int32_t(random.between(-128, 127))},
        out{1.0F / 256, -128};
    QdqGraphBuilder g;
    const ValueId x = g.dequantize(g.graph.add_input("x", ElementType::kI8, shape), in),
                  m = g.graph.add_constant("mask", mask);
    const ValueId sum = g.node("Add", random.chance(0.5) ? std::vector{x, m} : std::vector{m, x}, shape);
    ValueId read = sum;
    if (spoilt) read = g.rounded(sum, {0.25F, 0});
    g.graph.outputs = {g.quantize(g.node("Softmax", {read}, shape, {{"axis", int64_t{-1}}}), out)};
    IntegerizeReport report;
    const Graph integer = integerize(g.graph, &report);
    if (spoilt) {
      EXPECT_TRUE(std::ranges::any_of(report.records, [](const IntegerizeRecord& record) {
        return record.reason == "it adds a constant of several axes that is no causal mask of a Softmax";
      }));
      continue;
    }
    ASSERT_TRUE(integer.nodes.size() == 1 && integer.nodes[0].is_tilewright("QSoftmax"));
    EXPECT_EQ(integer.nodes[0].int_or("causal", 0), tokens);
    const Tensor values = random_values(random, ElementType::kI8, shape);
    std::vector<double> exact;
    for (int64_t row = 0; row < values.size() / tokens; ++row) {
      double sum_of_row = 0;
      const auto power = [&](int64_t n) {
        return n > row % tokens ? 0
                                : std::exp(double(in.scale) * double(values.integer_at(row * tokens + n)));
      };
      for (int64_t n = 0; n < tokens; ++n) sum_of_row += power(n);
      for (int64_t n = 0; n < tokens; ++n) exact.push_back(power(n) / sum_of_row);
    }
    EXPECT_LE(largest_error(run(integer, {values})[0], out, exact), 0.51);
  }
}

TEST(LowerRows, ProductsAreRoundedOnce) {
  double largest = 0;
  for (int64_t i = 0; i < test_cases(60); ++i) {
    Random random((test_seed() + uint64_t(i)) * 1019 + 3);
    const int64_t m = random.between(1, 30), k = random.between(1, 100), n = random.between(1, 30);
    const bool gemm = random.chance(0.5), left = gemm && random.chance(0.3),
               right = gemm && random.chance(0.5), scaled = random.chance(0.5);
    const auto in = [&] {
      return Quantization{random_scale(random, -7, -3), int32_t(random.between(-128, 127))};
    };
    const Quantization qa = in(), qb = in(), out{float(double(qa.scale) * double(qb.scale) * 64), 3};
    const Shape a = left ? Shape{k, m} : Shape{m, k}, b = right ? Shape{n, k} : Shape{k, n};
    const bool divided = scaled && random.chance(0.5);
    const double factor = scaled ? 0.125 : 1;
    QdqGraphBuilder g;
    const ValueId xa = g.graph.add_input("a", ElementType::kI8, a),
                  xb = g.graph.add_input("b", ElementType::kI8, b);
    Attributes attributes;
    if (left) attributes["transA"] = int64_t{1};
    if (right) attributes["transB"] = int64_t{1};
    ValueId y = g.node(gemm ? "Gemm" : "MatMul", {g.dequantize(xa, qa), g.dequantize(xb, qb)}, Shape{m, n},
                       attributes);
    if (scaled)
      y = g.node(divided ? "Div" : "Mul",
                 {y, g.graph.add_constant("factor", Tensor::scalar(float(divided ? 1 / factor : factor)))},
                 Shape{m, n});
    g.graph.outputs = {g.quantize(y, out)};
    const Graph integer = integerize(g.graph);
    ASSERT_TRUE(integer.nodes.back().is_tilewright("QMatMul")) << integer.nodes.back().op;
    ASSERT_LE(integer.nodes.size(), left ? 2u : 1u);
    const Tensor va = random_values(random, ElementType::kI8, a),
                 vb = random_values(random, ElementType::kI8, b);
    std::vector<double> exact;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t d = 0; d < k; ++d) {
          sum += double(va.integer_at(left ? d * m + r : r * k + d) - qa.zero_point) *
                 double(vb.integer_at(right ? c * k + d : d * n + c) - qb.zero_point);
        }
        exact.push_back(sum * double(qa.scale) * double(qb.scale) * factor);
      }
    }
    largest = std::max(largest, largest_error(run(integer, {va, vb})[0], out, exact));
  }
  EXPECT_LE(largest, 0.5001);
}

std::string first_reason(const Graph& graph) {
  IntegerizeReport report;
  integerize(graph, &report);
  for (const IntegerizeRecord& record : report.records) {
    if (record.integer_op.empty()) return record.reason;
  }
  return "";
}

TEST(LowerRows, SayWhatHasNoIntegerForm) {
  const Quantization q{0.1F, 0};
  const Shape shape{4, 8};
  const auto refused = [&](const char* op, ElementType type, std::vector<Tensor> constants,
                           Attributes attributes) {
    QdqGraphBuilder g;
    std::vector<ValueId> inputs{g.dequantize(g.graph.add_input("x", type, shape), q)};
    for (const Tensor& constant : constants) inputs.push_back(g.graph.add_constant("c", constant));
    g.graph.outputs = {g.quantize(g.node(op, inputs, shape, std::move(attributes)), q)};
    return first_reason(g.graph);
  };
  EXPECT_EQ(refused("Softmax", ElementType::kI16, {}, {}), "a softmax of 16-bit values has no integer form");
  EXPECT_EQ(refused("Softmax", ElementType::kI8, {}, {{"axis", int64_t{0}}}),
            "a softmax along another axis than the last has no integer form");
  Tensor ones(ElementType::kF32, {8}), large(ElementType::kF32, {8});
  for (int64_t i = 0; i < 8; ++i) ones.set_number(i, 1), large.set_number(i, 5);
  ones.set_number(2, 1e-6);
  EXPECT_EQ(refused("LayerNormalization", ElementType::kI8, {ones, large}, {}),
            "the summand 5 of channel 2 is too large beside its factor 9.999999974752427e-07");
  QdqGraphBuilder g;
  const ValueId a = g.graph.add_input("a", ElementType::kI16, Shape{4, 8}),
                b = g.graph.add_input("b", ElementType::kI16, Shape{8, 4});
  g.graph.outputs = {g.quantize(g.node("MatMul", {g.dequantize(a, q), g.dequantize(b, q)}, Shape{4, 4}), q)};
  EXPECT_EQ(first_reason(g.graph), "sums of 8 products leave 32 bits");
}

}  // namespace
}  // namespace tilewright
