// Random quantised operators, lowered to integers and run by the host engine, against a double-precision
// evaluation of the ONNX definitions: equal wherever the exact result is not within 1e-4 of a rounding
// boundary, and within 1 otherwise.
#include <gtest/gtest.h>

#include <cmath>

#include "exact_evaluator.h"
#include "support/quantize/qdq_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integer_builder.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

constexpr double kTieMargin = 1e-4;  // the multipliers of QAdd have 22 bits, all others 31
// Of 16-bit outputs: multipliers of 64-bit sums have fewer bits; QRescaledAdd rounds its operands as well, to
// steps that beside those of a fine output are not small where an operand has 8 bits.
constexpr double kWideTieMargin = 2e-3, kRescaledTieMargin = 2e-2;

class RandomOperator : public QdqGraphBuilder {
 public:
  // `wide_share`: of the activations that have 16 bits.
  explicit RandomOperator(uint64_t seed, double wide_share = 0) : random_(seed), wide_share_(wide_share) {}

  // Quantised input -> operator -> activation -> quantised output; returns the operator's name.
  std::string build() {
    const int kind = int(random_.between(0, 7));
    switch (kind) {
      case 0:
        finish(convolution(1));
        return "Conv";
      case 1:
        finish(convolution(random_.between(2, 4)));
        return "grouped Conv";
      case 2:
        finish(transposed());
        return "ConvTranspose";
      case 3:
        finish(dense());
        return "Gemm";
      case 4:
        finish(addition());
        return "Add";
      case 5:
        finish(average());
        return "AveragePool";
      case 6:
        finish(concat());
        return "Concat";
      default:
        finish(maximum());
        return "MaxPool";
    }
  }

  Tensor random_input() {
    Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
    for (float& v : x.mutable_data<float>()) v = float((random_.uniform() * 2 - 1) * input_range_);
    return x;
  }

 private:
  ElementType activation_type() {
    const bool is_signed = random_.chance(0.5);
    if (wide_share_ > 0 && random_.chance(wide_share_))
      return is_signed ? ElementType::kI16 : ElementType::kU16;
    return is_signed ? ElementType::kI8 : ElementType::kU8;
  }
  float scale(double typical) { return float(typical * std::exp2(random_.uniform() * 2 - 1)); }
  Quantization quantization(ElementType type, double typical_scale, bool zero = false) {
    const bool power_of_two = random_.chance(0.25);
    float s = scale(bit_width(type) == 16 ? typical_scale / 256 : typical_scale);
    if (power_of_two) s = float(std::exp2(std::round(std::log2(s))));
    return {s, zero ? 0 : int32_t(random_.between(lowest(type), highest(type)))};
  }
  ValueId input(Shape shape, bool zero_point_zero = false) {
    const ElementType type = zero_point_zero ? signed_activation(activation_type()) : activation_type();
    in_ = quantization(type, 0.05, zero_point_zero);
    input_range_ = 0.625 * std::exp2(bit_width(type)) * double(in_.scale);
    return rounded(graph.add_input("x", ElementType::kF32, std::move(shape)), in_, type);
  }
  ValueId weights(Shape shape, int axis, int64_t channels) {
    const bool per_channel = random_.chance(0.5);
    const bool is_unsigned = !per_channel && random_.chance(0.3);
    Tensor integers(is_unsigned ? ElementType::kU8 : ElementType::kI8, shape);
    for (int64_t i = 0; i < integers.size(); ++i) {
      integers.set_integer(i, random_.between(lowest(integers.type()), highest(integers.type())));
    }
    weight_scales_.assign(per_channel ? size_t(channels) : 1, 0);
    for (float& s : weight_scales_) s = scale(0.01);
    const std::vector<int64_t> zeros(weight_scales_.size(), is_unsigned ? random_.between(0, 255) : 0);
    return constant(integers, weight_scales_, zeros, axis);
  }
  ValueId bias(int64_t channels) {
    if (random_.chance(0.3)) return kNoValue;
    Tensor integers(ElementType::kI32, Shape{channels});
    std::vector<float> scales;
    for (int64_t o = 0; o < channels; ++o) {
      integers.set_integer(o, random_.between(-20000, 20000));
      scales.push_back(in_.scale * weight_scales_[size_t(o) % weight_scales_.size()]);
    }
    if (weight_scales_.size() == 1) scales.resize(1);
    return constant(integers, scales, std::vector<int64_t>(scales.size(), 0), 0);
  }
  static std::vector<ValueId> present(std::vector<ValueId> inputs) {
    if (inputs.back() == kNoValue) inputs.pop_back();
    return inputs;
  }

  ValueId convolution(int64_t group) {
    const int64_t c = random_.between(1, 4), o = random_.between(1, 4), h = random_.between(5, 9);
    const int64_t kh = random_.between(1, 3), kw = random_.between(1, 3), stride = random_.between(1, 2);
    const int64_t dilation = random_.between(1, 2);
    std::vector<int64_t> pads;
    for (int i = 0; i < 4; ++i) pads.push_back(random_.between(0, 2));
    const ValueId x = input({random_.between(1, 2), c * group, h, h + 1});
    const ValueId w = weights({o * group, c, kh, kw}, 0, o * group);
    const ValueId b = bias(o * group);
    depth_ = c * kh * kw;
    Attributes attributes{{"strides", std::vector<int64_t>{stride, stride}},
                          {"dilations", std::vector<int64_t>{dilation, 1}},
                          {"pads", pads},
                          {"group", group}};
    const auto size = [&](int64_t in, int64_t k, int64_t d, int64_t pad) {
      return (in + pad - (k - 1) * d - 1) / stride + 1;
    };
    const Shape y{graph.value(x).shape[0], o * group, size(h, kh, dilation, pads[0] + pads[2]),
                  size(h + 1, kw, 1, pads[1] + pads[3])};
    return node("Conv", present({x, w, b}), y, attributes);
  }
  ValueId transposed() {
    const int64_t group = random_.between(1, 2), c = random_.between(1, 3), o = random_.between(1, 3);
    const int64_t h = random_.between(2, 5), kernel = random_.between(2, 4), stride = random_.between(1, 3);
    const int64_t extra = stride > 1 ? random_.between(0, 1) : 0;
    std::vector<int64_t> pads;
    for (int i = 0; i < 4; ++i) pads.push_back(random_.between(0, 1));
    const ValueId x = input({1, c * group, h, h + 1}, true);
    const ValueId w = weights({c * group, o, kernel, kernel}, 1, o);
    const ValueId b = bias(o * group);
    depth_ = c * kernel;
    const Shape y{1, o * group, (h - 1) * stride + kernel - pads[0] - pads[2] + extra,
                  h * stride + kernel - pads[1] - pads[3] + extra};
    return node("ConvTranspose", present({x, w, b}), y,
                {{"strides", std::vector<int64_t>{stride, stride}},
                 {"pads", pads},
                 {"group", group},
                 {"output_padding", std::vector<int64_t>{extra, extra}}});
  }
  ValueId dense() {
    const int64_t n = random_.between(1, 3), k = random_.between(1, 40), o = random_.between(1, 12);
    const bool turned = random_.chance(0.5);
    const ValueId x = input({n, k});
    const ValueId w = weights(turned ? Shape{o, k} : Shape{k, o}, turned ? 0 : 1, o);
    const ValueId b = bias(o);
    depth_ = k;
    return node("Gemm", present({x, w, b}), {n, o}, {{"transB", int64_t(turned)}});
  }
  ValueId addition() {
    const ValueId x = input({2, random_.between(1, 60)});
    const ElementType type = activation_type();
    const ValueId other = rounded(graph.inputs[0], quantization(type, 0.05), type);
    output_scale_ = 0.08;
    return node(random_.chance(0.5) ? "Add" : "Sub", {x, other}, graph.value(x).shape);
  }
  ValueId average() {
    const int64_t h = random_.between(3, 8);
    const ValueId x = input({1, 3, h, h});
    output_scale_ = 0.02;
    if (random_.chance(0.3)) return node("GlobalAveragePool", {x}, {1, 3, 1, 1});
    const int64_t kernel = random_.between(2, 3), stride = random_.between(1, 2), pad = random_.between(0, 1);
    const int64_t y = (h + 2 * pad - kernel) / stride + 1;
    return node("AveragePool", {x}, {1, 3, y, y},
                {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                 {"strides", std::vector<int64_t>{stride, stride}},
                 {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                 {"count_include_pad", int64_t{1}}});
  }
  ValueId concat() {
    const ValueId x = input({2, 3, 4, 4});
    const ElementType type = activation_type();
    const ValueId other = rounded(graph.inputs[0], quantization(type, 0.05), type);
    output_scale_ = 0.05;
    return node("Concat", {x, other, x}, {2, 9, 4, 4}, {{"axis", int64_t{1}}});
  }
  ValueId maximum() {
    const ValueId x = input({1, 2, 6, 6});
    output_scale_ = 0.05;
    return node("MaxPool", {x}, {1, 2, 3, 3},
                {{"kernel_shape", std::vector<int64_t>{3, 3}},
                 {"strides", std::vector<int64_t>{2, 2}},
                 {"pads", std::vector<int64_t>{1, 1, 0, 0}}});
  }

  void finish(ValueId v) {
    const Shape shape = graph.value(v).shape;
    if (output_scale_ == 0) output_scale_ = 0.05 * 0.01 * 64 * std::sqrt(double(depth_));
    const int activation = int(random_.between(0, 2));
    if (activation == 1) v = node("Relu", {v}, shape);
    if (activation == 2) {
      const double high = output_scale_ * 90 * random_.uniform() + output_scale_;
      v = node("Clip",
               {v, graph.add_constant("low", Tensor::scalar(float(-high / 3))),
                graph.add_constant("high", Tensor::scalar(float(high)))},
               shape);
    }
    const ElementType type = activation_type();
    const Quantization q = quantization(type, output_scale_);
    const ValueId integers = quantize(v, q, type);
    graph.outputs = {dequantize(integers, q)};
    quantized_output = integers;
    output_quantization = q;
  }

 public:
  ValueId quantized_output = kNoValue;
  Quantization output_quantization;

 private:
  Random random_;
  Quantization in_;
  double input_range_ = 1;
  std::vector<float> weight_scales_;
  int64_t depth_ = 1;
  double output_scale_ = 0, wide_share_ = 0;
};

void compare_with_the_exact_evaluation(uint64_t first_seed, int cases, double wide_share) {
  std::map<std::string, int> kinds;
  int64_t numbers = 0, near_ties = 0, saturated = 0, wide_sums = 0;
  for (int i = 0; i < cases; ++i) {
    const uint64_t seed = first_seed + uint64_t(i);
    RandomOperator built(seed, wide_share);
    const std::string kind = built.build();
    SCOPED_TRACE(testing::Message() << kind << ", seed " << seed);
    ++kinds[kind];
    Diagnostics problems;
    verify(built.graph, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);

    IntegerizeReport report;
    const Graph integer = integerize(built.graph, &report);
    verify(integer, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    for (const IntegerizeRecord& record : report.records) ASSERT_NE(record.integer_op, "") << record.reason;

    const Tensor x = built.random_input();
    const Tensor y = run(integer, {x})[0];
    ExactEvaluator evaluator(built.graph);
    const auto& exact = evaluator.run(built.quantized_output, {x});
    ASSERT_EQ(y.size(), int64_t(exact.numbers.size()));
    const Quantization& q = built.output_quantization;
    const double margin = wide_share == 0 ? kTieMargin : kind == "Add" ? kRescaledTieMargin : kWideTieMargin;
    for (const Value& value : integer.values)
      wide_sums += value.type == ElementType::kI64 && value.name.ends_with("_bias");
    for (int64_t e = 0; e < y.size(); ++e) {
      const double actual = std::round(y.number_at(e) / q.scale) + q.zero_point;
      const double expected = exact.numbers[size_t(e)];
      const double unrounded = exact.unrounded[size_t(e)];
      const bool tie = std::fabs(unrounded - std::floor(unrounded) - 0.5) < margin;
      ++numbers;
      near_ties += tie;
      saturated += std::fabs(unrounded - expected) > 0.75;
      ASSERT_NEAR(actual, expected, tie ? 1 : 0) << "element " << e << ", exactly " << unrounded;
    }
  }
  EXPECT_EQ(kinds.size(), 8u);
  for (const auto& [kind, count] : kinds) EXPECT_GE(count, 100) << kind;
  // The comparison must be one: hardly any number may hide behind a tie, and most are inside the range.
  EXPECT_LT(near_ties, numbers / 20);
  EXPECT_LT(saturated, numbers / 2);
  EXPECT_TRUE(wide_share > 0 || wide_sums == 0);
  ::testing::Test::RecordProperty("numbers", std::to_string(numbers));
}

TEST(RandomQdqOperators, IntegersEqualTheExactEvaluation) {
  compare_with_the_exact_evaluation(20261121, 5000, 0);
}

TEST(RandomQdqOperators, ActivationsOf16BitsEqualTheExactEvaluation) {
  compare_with_the_exact_evaluation(20261128, 3000, 0.6);
}

// Scales, zero points and weights that no sane tool writes: the result is valid, or the operator stays in
// float.
TEST(RandomQdqOperators, SurviveAbsurdConstants) {
  constexpr float kAbsurd[] = {0.0f,    -1.0f,    1e-45f, 1e-38f,    1e30f,
                               3.4e38f, INFINITY, NAN,    0x1p-140f, 0x1p31f};
  constexpr uint64_t kSeed = 31337;
  int in_float = 0, integer_ones = 0;
  for (uint64_t seed = kSeed; seed < kSeed + 1500; ++seed) {
    RandomOperator built(seed);
    built.build();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    for (Value& value : built.graph.values) {
      if (!value.constant || value.constant->size() == 0 || !random.chance(0.3)) continue;
      const int64_t element = random.between(0, value.constant->size() - 1);
      if (value.type == ElementType::kF32) {
        value.constant->mutable_data<float>()[size_t(element)] = kAbsurd[random.between(0, 9)];
      } else if (value.type != ElementType::kI64) {
        value.constant->set_integer(element, random.chance(0.5) ? lowest(value.type) : highest(value.type));
      }
    }
    IntegerizeReport report;
    const Graph integer = integerize(built.graph, &report);
    Diagnostics problems;
    verify(integer, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    for (const IntegerizeRecord& record : report.records) {
      EXPECT_NE(record.integer_op.empty(), record.reason.empty());
      (record.integer_op.empty() ? in_float : integer_ones) += 1;
    }
    run(integer, {built.random_input()});
  }
  EXPECT_GT(in_float, 300);
  EXPECT_GT(integer_ones, 300);
}

}  // namespace
}  // namespace tilewright
