// Quantised operators in integers against the definition in double precision: 8-bit per tensor and per
// channel, signed and unsigned, and 16-bit activations.
#include "nhwc_testing.h"
#include "tilewright/quantize/integerize/fit_addition.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

// TFLite's own roundings move more than what lies on a boundary.
const TfliteOptions kExact{.rounding = Rounding::kOnce};

struct Scale {
  double scale;
  int64_t zero_point;
};

Tensor random_integers(Random& random, ElementType type, const Shape& shape, int64_t low, int64_t high) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

Scale random_scale(Random& random, ElementType type) {
  const int64_t zero = type == ElementType::kI16 ? 0 : random.between(lowest(type) / 2, highest(type) / 2);
  return {std::ldexp(double(random.between(200, 1000)), -14), zero};
}

// The output holds what `real` quantises to; one step more or less only where it lies on a boundary.
void expect_quantized(const Tensor& output, const Tensor& real, const Scale& y, int& on_boundary) {
  ASSERT_EQ(output.size(), real.size());
  for (int64_t i = 0; i < output.size(); ++i) {
    const double steps = real.number_at(i) / y.scale + double(y.zero_point);
    const double wanted =
        std::clamp(std::nearbyint(steps), double(lowest(output.type())), double(highest(output.type())));
    if (output.number_at(i) == wanted) continue;
    ++on_boundary;
    EXPECT_LE(std::fabs(output.number_at(i) - wanted), 1) << "at " << i;
    EXPECT_NEAR(std::fabs(steps - std::floor(steps)), 0.5, 1e-3) << "at " << i;
  }
}

void quantize(TfliteBuilder& model, int tensor, const Scale& s) {
  model.quantize(tensor, {float(s.scale)}, {s.zero_point});
}

double dequantized(const Tensor& t, int64_t index, const Scale& s) {
  return double(float(s.scale)) * double(t.integer_at(index) - s.zero_point);
}

// What TFLite's runtime multiplies by where it requantises: eight bits behind the point.
double runtime_ratio(const Scale& from, const Scale& to) {
  return std::nearbyint(256 * double(float(from.scale) / float(to.scale))) / 256;
}

// What TFLite's built-in kernels requantise a number to, which is not negative: a doubling high product with
// a factor of 31 bits, rounded, then a rounding division by a power of two.
int64_t rounded_twice(int64_t number, double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  const int64_t shifted = number << std::max(exponent, 0),
                multiplier = std::llround(std::ldexp(fraction, 31));
  const int64_t high = (shifted * multiplier + (int64_t{1} << 30)) >> 31, left = std::max(-exponent, 0);
  return left == 0 ? high : (high + (int64_t{1} << (left - 1))) >> left;
}

// The sum that TFLite's built-in kernels compute, without its zero point, not below zero.
int64_t sum_of_kernels(int64_t left, int64_t right, const Scale& a, const Scale& b, const Scale& y,
                       ElementType type) {
  const int64_t to_i8 = type == ElementType::kU8 ? 128 : 0;
  const auto numbers = [&](const Scale& s) {
    return Quantization{float(s.scale), int32_t(s.zero_point - to_i8)};
  };
  const QuantizedSum sum{numbers(a), numbers(b), numbers(y), 1, {y.zero_point - to_i8, 127}};
  return twice_rounded_sum(sum, left - to_i8, right - to_i8) - numbers(y).zero_point;
}

// A 3x3 convolution of 8-bit or 16-bit activations with 8-bit weights.
void check_convolution(Random& random, ElementType type, bool per_channel, int& on_boundary) {
  const Shape shape{1, 5, 6, 3};
  const int64_t channels = 4;
  const Scale in = random_scale(random, type), out{std::ldexp(double(random.between(300, 900)), -11),
                                                   type == ElementType::kI16 ? 0 : random.between(-20, 20)};
  const Scale y = type == ElementType::kU8 ? Scale{out.scale, 128 + out.zero_point} : out;
  const bool wide = type == ElementType::kI16;
  const Tensor x =
      random_integers(random, type, shape, lowest(type) / (wide ? 64 : 1), highest(type) / (wide ? 64 : 1));
  const ElementType weight_type = type == ElementType::kU8 ? ElementType::kU8 : ElementType::kI8;
  const Tensor w =
      random_integers(random, weight_type, {channels, 3, 3, 3}, lowest(weight_type), highest(weight_type));
  const int64_t weight_zero = weight_type == ElementType::kU8 ? 131 : 0;
  std::vector<float> scales;
  for (int64_t o = 0; o < (per_channel ? channels : 1); ++o)
    scales.push_back(float(std::ldexp(double(random.between(100, 900)), -15)));
  Tensor b(wide ? ElementType::kI64 : ElementType::kI32, {channels});
  for (int64_t o = 0; o < channels; ++o) b.set_integer(o, random.between(-3000, 3000));
  const auto weight_scale = [&](int64_t o) { return double(scales[per_channel ? size_t(o) : 0]); };
  const Tensor real = nhwc({1, 5, 6, channels}, [&](auto, auto oy, auto ox, auto o) {
    double sum = double(b.integer_at(o)) * double(float(in.scale)) * weight_scale(o);
    for (int64_t ky = 0; ky < 3; ++ky) {
      for (int64_t kx = 0; kx < 3; ++kx) {
        const int64_t yy = oy + ky - 1, xx = ox + kx - 1;
        if (yy < 0 || xx < 0 || yy >= 5 || xx >= 6) continue;
        for (int64_t i = 0; i < 3; ++i) {
          sum += dequantized(x, (yy * 6 + xx) * 3 + i, in) * weight_scale(o) *
                 double(w.integer_at(((o * 3 + ky) * 3 + kx) * 3 + i) - weight_zero);
        }
      }
    }
    return std::clamp(sum, 0.0, 6.0);
  });
  TfliteBuilder model;
  const int source = model.input("x", dims_of(shape), type), target = model.output("y", {1, 5, 6, 4}, type);
  const int weights = model.constant("w", w), bias = model.constant("b", b);
  quantize(model, source, in);
  quantize(model, target, y);
  model.quantize(weights, scales, std::vector<int64_t>(scales.size(), weight_zero));
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  options.fused_activation_function = schema::ActivationFunctionType_RELU6;
  model.op(Op::BuiltinOperator_CONV_2D, {source, weights, bias}, {target}, options);
  const Graph graph = parse_tflite(model.build(), kExact);
  expect_quantized(run(graph, {x})[0], real, y, on_boundary);
  IntegerizeReport report;
  const Graph integer = integerize(optimize(graph), &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  expect_quantized(run(integer, {x})[0], real, y, on_boundary);
}

TEST(TfliteQuantized, Convolutions) {
  Random random(31);
  int on_boundary = 0;
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    check_convolution(random, ElementType::kI8, trial % 2 == 0, on_boundary);
    check_convolution(random, ElementType::kU8, false, on_boundary);
    check_convolution(random, ElementType::kI16, trial % 2 == 0, on_boundary);
  }
  EXPECT_LT(on_boundary, 60);  // of 36,000 values
}

TEST(TfliteQuantized, AdditionsRequantisationsAndActivations) {
  Random random(32);
  int on_boundary = 0;
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const ElementType type = trial % 2 == 0 ? ElementType::kI8 : ElementType::kU8;
    const Scale a = random_scale(random, type), b = random_scale(random, type),
                y = random_scale(random, type), z = random_scale(random, type);
    const Tensor left = random_integers(random, type, {1, 3, 4, 5}, lowest(type), highest(type));
    const Tensor right = random_integers(random, type, {1, 3, 4, 5}, lowest(type), highest(type));
    TfliteBuilder model;
    const int first = model.input("a", {1, 3, 4, 5}, type), second = model.input("b", {1, 3, 4, 5}, type);
    const int sum = model.add("sum", type, {1, 3, 4, 5}), out = model.output("y", {1, 3, 4, 5}, type);
    quantize(model, first, a);
    quantize(model, second, b);
    quantize(model, sum, y);
    quantize(model, out, z);
    schema::AddOptionsT options;
    options.fused_activation_function = schema::ActivationFunctionType_RELU;
    model.op(Op::BuiltinOperator_ADD, {first, second}, {sum}, options);
    model.op(Op::BuiltinOperator_QUANTIZE, {sum}, {out});
    const Graph graph = parse_tflite(model.build());
    TfliteOptions kernels;
    kernels.rounding = Rounding::kTwice;
    const Graph of_runtime = integerize(optimize(graph)),
                of_kernels = integerize(optimize(parse_tflite(model.build(), kernels)));
    Tensor real(ElementType::kF32, {1, 3, 4, 5}), coarse = real, twice = real;
    for (int64_t i = 0; i < real.size(); ++i) {
      const double value = std::max(0.0, dequantized(left, i, a) + dequantized(right, i, b));
      const double steps = std::nearbyint(value / double(float(y.scale)) + double(y.zero_point));
      const double stored =
          std::clamp(steps, double(lowest(type)), double(highest(type))) - double(y.zero_point);
      real.set_number(i, stored * double(float(y.scale)));
      coarse.set_number(i, std::floor(stored * runtime_ratio(y, z) + 0.5) * z.scale);
      const int64_t of_sum = sum_of_kernels(left.integer_at(i), right.integer_at(i), a, b, y, type);
      twice.set_number(i, double(rounded_twice(of_sum, double(float(y.scale)) / float(z.scale))) * z.scale);
    }
    expect_quantized(run(graph, {left, right})[0], real, z, on_boundary);
    expect_quantized(run(of_kernels, {left, right})[0], twice, z, on_boundary);
    expect_quantized(run(of_runtime, {left, right})[0], coarse, z, on_boundary);
  }
  EXPECT_LT(on_boundary, 30);  // of 10,800 values
}

TEST(TfliteQuantized, InputsAndOutputsKeepNameTypeAndLayout) {
  TfliteBuilder model;
  const int in = model.input("image", {1, 4, 4, 3}, ElementType::kU8);
  const int out = model.output("scores", {1, 2, 2, 3}, ElementType::kU8);
  model.quantize(in, {0.5f}, {128}).quantize(out, {0.5f}, {128});
  model.tensor(in).shape_signature = {-1, 4, 4, 3};
  model.tensor(out).shape_signature = {-1, 2, 2, 3};
  schema::Pool2DOptionsT options;
  options.stride_h = options.stride_w = options.filter_height = options.filter_width = 2;
  options.padding = schema::Padding_VALID;
  model.op(Op::BuiltinOperator_MAX_POOL_2D, {in}, {out}, options);
  const Graph graph = parse_tflite(model.build());
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "image");
  EXPECT_EQ(to_string(graph.value(graph.inputs[0]).type, graph.value(graph.inputs[0]).shape), "u8[1x4x4x3]");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "scores");
  EXPECT_EQ(to_string(graph.value(graph.outputs[0]).type, graph.value(graph.outputs[0]).shape),
            "u8[1x2x2x3]");
  // The dynamic batch, bound.
  TfliteOptions batch;
  batch.dimensions["image.0"] = 3;
  const Graph three = parse_tflite(model.build(), batch);
  EXPECT_EQ(to_string(three.value(three.outputs[0]).type, three.value(three.outputs[0]).shape),
            "u8[3x2x2x3]");
}

}  // namespace
}  // namespace tilewright
