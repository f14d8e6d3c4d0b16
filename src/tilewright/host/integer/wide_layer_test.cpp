// Operators of 16-bit activations, and those of 64-bit sums, against the reference kernels, bit for bit: any
// mixture of 8 and 16 bits in and out, values at the ends of their types included.
#include "tilewright/host/integer/wide_layer.h"

#include <gtest/gtest.h>

#include "tilewright/host/integer/integer_testing.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using WideInts = std::vector<int64_t>;
constexpr ElementType kBoth[] = {ElementType::kI8, ElementType::kI16};

// Every fourth element is one of the ends.
Tensor with_extremes(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor = random_integers(type, shape, lowest(type), highest(type), random);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (random.chance(0.25)) tensor.set_integer(i, random.chance(0.5) ? lowest(type) : highest(type));
  }
  return tensor;
}

int32_t element_of(ElementType type, Random& random) {
  return int32_t(random.between(lowest(type), highest(type)));
}

OutputStage wide_output(ElementType type, Random& random) {
  OutputStage output{int32_t(random.between(-200, 200)), int32_t(lowest(type)), int32_t(highest(type))};
  output.bits = bit_width(type);
  if (random.chance(0.5)) output.clip_low = element_of(type, random);
  output.clip_high = int32_t(random.between(output.clip_low, highest(type)));
  return output;
}

Attributes stage_attributes(const OutputStage& output) {
  return {{"y_zero_point", int64_t{output.y_zero_point}},
          {"clip_low", int64_t{output.clip_low}},
          {"clip_high", int64_t{output.clip_high}},
          {"output_bits", int64_t{output.bits}}};
}

Attributes window_attributes(const WindowParameters& w, const OutputStage& output) {
  Attributes attributes = stage_attributes(output);
  attributes["strides"] = WideInts{w.strides[0], w.strides[1]};
  attributes["dilations"] = WideInts{w.dilations[0], w.dilations[1]};
  attributes["pads"] = WideInts{w.pads[0], w.pads[1], w.pads[2], w.pads[3]};
  return attributes;
}

// Bias, multiplier and shift; a 64-bit bias has multipliers of 15 bits.
struct WideScales {
  Tensor bias, multiplier, shift;
};

WideScales wide_scales(bool wide, int64_t channels, ElementType x, ElementType y, Random& random) {
  // So that the outputs spread over the range of y.
  const int64_t more = (x == ElementType::kI16 ? 8 : 0) - (y == ElementType::kI16 ? 8 : 0);
  if (wide) {
    return {random_integers(ElementType::kI64, {channels}, -(int64_t{1} << 33), int64_t{1} << 33, random),
            random_integers(ElementType::kI32, {channels}, 1 << 14, (1 << 15) - 1, random),
            random_integers(ElementType::kI32, {channels}, 22 + more, 34 + more, random)};
  }
  const bool twice = random.chance(0.3);
  return {
      random_integers(ElementType::kI32, {channels}, INT32_MIN, INT32_MAX, random),
      random_integers(ElementType::kI32, {channels}, 1 << 30, INT32_MAX, random),
      random_integers(ElementType::kI32, {channels}, (twice ? kTwice : 0) + std::max<int64_t>(32, 38 + more),
                      (twice ? kTwice : 0) + 44 + more, random)};
}

Tensor run_wide(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes) {
  std::vector<std::optional<Tensor>> listed(inputs.begin(), inputs.end());
  return testing::run_op(op, listed, std::move(attributes), 1, kTilewrightDomain, HostOptions{2})[0];
}

Tensor random_weights(const Shape& shape, Random& random) {
  return random.chance(0.3) ? random_integers(ElementType::kI16, shape, -255, 255, random)
                            : with_extremes(ElementType::kI8, shape, random);
}

TEST(WideLayer, ConvolutionsEqualTheReference) {
  const uint64_t seed = 611;
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType from = kBoth[round % 2], to = kBoth[round / 2 % 2];
    const bool depthwise = random.chance(0.25);
    const int64_t group = depthwise ? random.between(2, 9) : random.between(1, 2);
    const int64_t c = depthwise ? 1 : random.between(1, 9), o = random.between(1, depthwise ? 2 : 12);
    const int64_t kh = random.between(1, 4), kw = random.between(1, 4);
    ConvParameters p;
    p.window = random_window(random, kh, kw);
    p.group = group;
    p.pad_value = element_of(from, random);
    p.output = wide_output(to, random);
    const Tensor x = with_extremes(
        from, {random.between(1, 2), c * group, random.between(8, 12), random.between(11, 20)}, random);
    const Tensor w = random_weights({o * group, c, kh, kw}, random);
    const WideScales s = wide_scales(random.chance(0.5), o * group, from, to, random);
    Attributes attributes = window_attributes(p.window, p.output);
    attributes["group"] = group;
    attributes["pad_value"] = int64_t{p.pad_value};
    const Tensor actual = run_wide("QConv", {x, w, s.bias, s.multiplier, s.shift}, attributes);
    ASSERT_TRUE(actual.identical(reference_conv(x, w, s.bias, s.multiplier, s.shift, p)));
  }
}

TEST(WideLayer, TransposedConvolutionsEqualTheReference) {
  const uint64_t seed = 612;
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType from = kBoth[round % 2], to = kBoth[round / 2 % 2];
    const int64_t group = random.between(1, 3), c = random.between(1, 5), o = random.between(1, 6);
    ConvTransposeParameters p;
    p.window = random_window(random, 0, 0);
    p.group = group;
    p.output = wide_output(to, random);
    const Tensor x = with_extremes(from, {1, c * group, random.between(2, 8), random.between(2, 9)}, random);
    const Tensor w = random_weights({c * group, o, random.between(1, 4), random.between(1, 4)}, random);
    const WideScales s = wide_scales(random.chance(0.5), o * group, from, to, random);
    Attributes attributes = window_attributes(p.window, p.output);
    attributes["group"] = group;
    const Tensor actual = run_wide("QConvTranspose", {x, w, s.bias, s.multiplier, s.shift}, attributes);
    ASSERT_TRUE(actual.identical(reference_conv_transpose(x, w, s.bias, s.multiplier, s.shift, p)));
  }
}

TEST(WideLayer, DenseLayersEqualTheReference) {
  const uint64_t seed = 613;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType from = kBoth[round % 2], to = kBoth[round / 2 % 2];
    const int64_t n = random.between(1, 20), k = random.between(1, 200), o = random.between(1, 30);
    const Tensor x = with_extremes(from, {n, k}, random);
    const Tensor w = random_weights({o, k}, random);
    const WideScales s = wide_scales(random.chance(0.5), o, from, to, random);
    const OutputStage output = wide_output(to, random);
    const Tensor actual = run_wide("QGemm", {x, w, s.bias, s.multiplier, s.shift}, stage_attributes(output));
    ASSERT_TRUE(actual.identical(reference_gemm(x, w, s.bias, s.multiplier, s.shift, output)));
  }
}

// All weights and all inputs at their ends: sums of 16-bit activations that 32 bits would not hold.
TEST(WideLayer, SumsOf64BitsDoNotWrap) {
  const int64_t depth = 3000;
  Tensor x(ElementType::kI16, {2, depth}), w(ElementType::kI8, {2, depth});
  for (int64_t k = 0; k < depth; ++k) {
    x.set_integer(k, -32768);
    x.set_integer(depth + k, k % 2 == 0 ? 32767 : -32768);
    w.set_integer(k, -128);
    w.set_integer(depth + k, k % 2 == 0 ? 127 : -128);
  }
  const Tensor bias = Tensor::of<int64_t>({2}, {int64_t{1} << 35, -(int64_t{1} << 35)});
  const Tensor multiplier = Tensor::of<int32_t>({1}, {1 << 14}), shift = Tensor::of<int32_t>({1}, {36});
  OutputStage output{0, -32768, 32767};
  output.bits = 16;
  const Tensor y = run_wide("QGemm", {x, w, bias, multiplier, shift}, stage_attributes(output));
  const auto expected = [&](int64_t n, int64_t o) {
    int64_t sum = bias.integer_at(o);
    for (int64_t k = 0; k < depth; ++k) sum += x.integer_at(n * depth + k) * w.integer_at(o * depth + k);
    EXPECT_GT(std::abs(sum), int64_t{1} << 31);
    return clip((sum + (int64_t{1} << 21)) >> 22, -32768, 32767);
  };
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(y.integer_at(i), expected(i / 2, i % 2)) << i;
}

TEST(WideLayer, MoreProductsThanThePlanesHoldAreRefused) {
  const int64_t depth = 70000;
  const Tensor x(ElementType::kI16, {1, depth});
  Tensor w(ElementType::kI8, {1, depth});
  w.set_integer(0, -128);
  const std::vector<Tensor> inputs{x, w, Tensor::of<int64_t>({1}, {0}), Tensor::of<int32_t>({1}, {1}),
                                   Tensor::of<int32_t>({1}, {0})};
  EXPECT_TRUE(testing::contains(error_text([&] {
                                  run_wide("QGemm", inputs, {{"output_bits", int64_t{16}}});
                                }),
                                "more products than the kernels can add up"));
}

TEST(WideLayer, RescaledAdditionsEqualTheReference) {
  const uint64_t seed = 614;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const Shape shape{random.between(1, 3), random.between(1, 700)};
    const Tensor a = with_extremes(kBoth[round % 2], shape, random);
    const Tensor b = with_extremes(kBoth[round / 2 % 2], shape, random);
    RescaledAddParameters p;
    p.bias = random.chance(0.5) ? 0 : int32_t(random.between(-(1 << 30), 1 << 30));
    const auto scale = [&](double most) {
      const double value = most * (0.01 + 0.99 * random.uniform());
      return random.chance(0.5) ? encode_scale(value) : encode_scale_twice(value);
    };
    p.a = scale(0.5);
    p.b = scale(0.5);
    p.sum = scale(0x1p-12);
    p.subtract = random.chance(0.5);
    p.output = wide_output(kBoth[round / 4 % 2], random);
    Attributes attributes = stage_attributes(p.output);
    attributes["bias"] = int64_t{p.bias};
    attributes["subtract"] = int64_t{p.subtract};
    attributes["multiplier_a"] = int64_t{p.a.multiplier};
    attributes["shift_a"] = int64_t{p.a.shift};
    attributes["multiplier_b"] = int64_t{p.b.multiplier};
    attributes["shift_b"] = int64_t{p.b.shift};
    attributes["multiplier"] = int64_t{p.sum.multiplier};
    attributes["shift"] = int64_t{p.sum.shift};
    ASSERT_TRUE(run_wide("QRescaledAdd", {a, b}, attributes).identical(reference_rescaled_add(a, b, p)));
  }
}

TEST(WideLayer, ProductsPoolsAndCopiesEqualTheReference) {
  const uint64_t seed = 615;
  Random random(seed);
  for (int round = 0; round < 120; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType from = kBoth[round % 2], to = kBoth[round / 2 % 2];
    const Tensor x = with_extremes(
        from, {random.between(1, 2), random.between(1, 4), random.between(6, 9), random.between(6, 20)},
        random);
    const Tensor other = with_extremes(kBoth[round / 4 % 2], {1, x.shape()[1], 1, x.shape()[3]}, random);
    const Requantization scale{int32_t(random.between(1 << 30, INT32_MAX)), int32_t(random.between(32, 50))};
    const OutputStage output = wide_output(to, random);
    Attributes attributes = stage_attributes(output);
    attributes["multiplier"] = int64_t{scale.multiplier};
    attributes["shift"] = int64_t{scale.shift};

    MultiplyParameters m{element_of(x.type(), random), element_of(other.type(), random)};
    m.multiplier = scale.multiplier;
    m.shift = scale.shift;
    m.output = output;
    Attributes factors = attributes;
    factors["a_zero_point"] = int64_t{m.a_zero_point};
    factors["b_zero_point"] = int64_t{m.b_zero_point};
    ASSERT_TRUE(run_wide("QMul", {x, other}, factors).identical(reference_multiply(x, other, m)));

    RequantizeParameters r{int32_t(random.between(-40000, 40000)), scale.multiplier, scale.shift, output};
    Attributes copied = attributes;
    copied["bias"] = int64_t{r.bias};
    ASSERT_TRUE(run_wide("QRequantize", {x}, copied).identical(reference_requantize(x, r)));

    AveragePoolParameters a;
    a.kernel = {random.between(1, 4), random.between(1, 4)};
    a.window = random_window(random, a.kernel[0] - 1, a.kernel[1] - 1);
    a.window.dilations = {1, 1};
    a.pad_value = element_of(from, random);
    a.bias = r.bias;
    a.multiplier = scale.multiplier;
    a.shift = scale.shift;
    a.output = output;
    Attributes pooled = window_attributes(a.window, output);
    pooled.erase("dilations");
    pooled["kernel_shape"] = WideInts{a.kernel[0], a.kernel[1]};
    pooled["pad_value"] = int64_t{a.pad_value};
    for (const char* name : {"multiplier", "shift"}) pooled[name] = attributes[name];
    pooled["bias"] = int64_t{a.bias};
    ASSERT_TRUE(run_wide("QAveragePool", {x}, pooled).identical(reference_average_pool(x, a)));
  }
}

TEST(WideLayer, LookupsTakeEveryElementFromTheirTable) {
  Random random(616);
  for (const ElementType from : kBoth) {
    for (const ElementType to : kBoth) {
      const int64_t entries = int64_t{1} << bit_width(from);
      const Tensor table = with_extremes(to, {entries}, random);
      Tensor x(from, {entries});
      for (int64_t i = 0; i < entries; ++i) x.set_integer(i, lowest(from) + (i * 7919) % entries);
      const Tensor y = run_wide("QLookup", {x, table}, {});
      ASSERT_EQ(y.type(), to);
      for (int64_t i = 0; i < entries; ++i) {
        ASSERT_EQ(y.integer_at(i), table.integer_at(x.integer_at(i) - lowest(from)));
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
