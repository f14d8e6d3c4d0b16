#include "tilewright/tensor/reference_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/error_text_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/tensor/layout.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

using Integers = std::vector<int64_t>;

const Tensor kOne = Tensor::of<int32_t>({1}, {1});
const Tensor kNoShift = Tensor::of<int32_t>({1}, {0});

Tensor zeros(int64_t count) { return Tensor(ElementType::kI32, {count}); }

Tensor random_tensor(ElementType type, const Shape& shape, int64_t low, int64_t high, Random& random) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

TEST(ReferenceConv, HandComputed) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor w = Tensor::of<int8_t>({1, 1, 2, 2}, {1, 0, -1, 2});
  const Tensor b = Tensor::of<int32_t>({1}, {10});
  // 1 - 4 + 2 * 5 + 10 = 17, and so on.
  EXPECT_EQ(reference_conv(x, w, b, kOne, kNoShift, {}).to_integers(), (Integers{17, 19, 23, 25}));
  ConvParameters p;
  p.window.strides = {2, 2};
  p.window.pads = {1, 1, 0, 0};
  p.pad_value = 3;
  // Top left: 3 + 0 - 3 + 2 * 1 + 10; top right: 3 - 2 + 2 * 3 + 10; bottom left: 3 - 3 + 2 * 7 + 10.
  EXPECT_EQ(reference_conv(x, w, b, kOne, kNoShift, p).to_integers(), (Integers{12, 17, 24, 25}));
  p = {};
  p.window.dilations = {2, 2};
  EXPECT_EQ(reference_conv(x, w, b, kOne, kNoShift, p).to_integers(), (Integers{1 - 7 + 18 + 10}));
}

TEST(ReferenceConv, GroupsChannelsScalesAndClip) {
  const Tensor x = Tensor::of<int8_t>({1, 2, 1, 2}, {10, -20, 30, 40});
  const Tensor w = Tensor::of<int8_t>({2, 1, 1, 1}, {3, -5});
  const Tensor b = Tensor::of<int32_t>({2}, {1, 2});
  const Tensor m = Tensor::of<int32_t>({2}, {1, 1 << 30});
  const Tensor s = Tensor::of<int32_t>({2}, {1, 32});
  ConvParameters p;
  p.group = 2;
  p.output = {5, -30, 20};
  // 31 / 2 = 15.5 -> 16, + 5; -59 / 2 = -29.5 -> -29, + 5; -148 / 4 + 5 = -32 -> -30; -198 / 4 = -49.5 ->
  // -49.
  EXPECT_EQ(reference_conv(x, w, b, m, s, p).to_integers(), (Integers{20, -24, -30, -30}));
}

TEST(ReferenceConv, AccumulatorWraps) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 1, 1}, {1});
  const Tensor w = Tensor::of<int16_t>({1, 1, 1, 1}, {1});
  const Tensor b = Tensor::of<int32_t>({1}, {INT32_MAX});
  EXPECT_EQ(reference_conv(x, w, b, kOne, kNoShift, {}).to_integers(), (Integers{-128}));
}

TEST(ReferenceConv, DilationEqualsSpreadWeights) {
  const uint64_t seed = 11;
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    const int64_t d = random.between(2, 3), k = random.between(1, 3);
    const Tensor x = random_tensor(ElementType::kI8, {2, 3, 9, 8}, -128, 127, random);
    const Tensor w = random_tensor(ElementType::kI8, {4, 3, k, k}, -128, 127, random);
    Tensor spread(ElementType::kI8, {4, 3, (k - 1) * d + 1, (k - 1) * d + 1});
    for (int64_t i = 0; i < w.size(); ++i) {
      const int64_t y = i / k % k * d, z = i % k * d, side = (k - 1) * d + 1;
      spread.set_integer(i / (k * k) * side * side + y * side + z, w.integer_at(i));
    }
    const Tensor shift = Tensor::of<int32_t>({1}, {8});
    ConvParameters p;
    p.window.pads = {1, 0, 2, 1};
    p.pad_value = -3;
    const Tensor expected = reference_conv(x, spread, zeros(4), kOne, shift, p);
    p.window.dilations = {d, d};
    const Tensor bent = reference_conv(x, w, zeros(4), kOne, shift, p);
    EXPECT_TRUE(bent.identical(expected)) << "round " << round << " seed " << seed;
  }
}

TEST(ReferenceConv, PointwiseEqualsGemmAndWideWeightsEqualNarrow) {
  Random random(3);
  const Tensor x = random_tensor(ElementType::kI8, {1, 7, 4, 5}, -128, 127, random);
  const Tensor w = random_tensor(ElementType::kI8, {6, 7, 1, 1}, -128, 127, random);
  const Tensor b = random_tensor(ElementType::kI32, {6}, -5000, 5000, random);
  const Tensor m = random_tensor(ElementType::kI32, {6}, 1 << 30, INT32_MAX, random);
  const Tensor s = random_tensor(ElementType::kI32, {6}, 36, 40, random);
  const Tensor y = reference_conv(x, w, b, m, s, {});
  EXPECT_TRUE(reference_conv(x, w.cast(ElementType::kI16), b, m, s, {}).identical(y));
  const Tensor rows = nchw_to_nhwc(x).reshaped({20, 7});
  const Tensor product = reference_gemm(rows, w.reshaped({6, 7}), b, m, s, {});
  EXPECT_TRUE(product.reshaped({1, 4, 5, 6}).identical(nchw_to_nhwc(y)));
  EXPECT_TRUE(
      reference_gemm(rows, w.cast(ElementType::kI16).reshaped({6, 7}), b, m, s, {}).identical(product));
}

// A transposed convolution is the convolution of the zero-stuffed input with the flipped kernel.
TEST(ReferenceConvTranspose, EqualsConvOfTheStuffedInput) {
  const uint64_t seed = 77;
  Random random(seed);
  for (int round = 0; round < 30; ++round) {
    const int64_t group = random.between(1, 2), c = 2 * group, o = 3 * group;
    const int64_t k = random.between(1, 4), stride = random.between(1, 3), h = random.between(1, 5);
    const Tensor x = random_tensor(ElementType::kI8, {2, c, h, h}, -128, 127, random);
    const Tensor w = random_tensor(ElementType::kI8, {c, o / group, k, k}, -128, 127, random);
    ConvTransposeParameters p;
    p.window.strides = {stride, stride};
    p.group = group;
    p.output_padding = {random.between(0, stride - 1), 0};
    const int64_t side = (h - 1) * stride + 1;
    Tensor stuffed(ElementType::kI8, {2, c, side + p.output_padding[0], side});
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t plane = i / (h * h), y = i / h % h, z = i % h;
      stuffed.set_integer((plane * (side + p.output_padding[0]) + y * stride) * side + z * stride,
                          x.integer_at(i));
    }
    Tensor flipped(ElementType::kI8, {o, c / group, k, k});
    for (int64_t i = 0; i < flipped.size(); ++i) {
      const int64_t out = i / (k * k * (c / group)), in = i / (k * k) % (c / group);
      const int64_t g = out / (o / group);
      const int64_t from = ((g * (c / group) + in) * (o / group) + out % (o / group)) * k * k;
      flipped.set_integer(i, w.integer_at(from + k * k - 1 - i % (k * k)));
    }
    ConvParameters q;
    q.group = group;
    q.window.pads = {k - 1, k - 1, k - 1, k - 1};
    const Tensor shift = Tensor::of<int32_t>({1}, {6});
    const Tensor bias = random_tensor(ElementType::kI32, {o}, -900, 900, random);
    const Tensor expected = reference_conv(stuffed, flipped, bias, kOne, shift, q);
    EXPECT_TRUE(reference_conv_transpose(x, w, bias, kOne, shift, p).identical(expected))
        << "round " << round << " seed " << seed;
  }
}

TEST(ReferenceConvTranspose, PadsCropTheOutput) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 1, 2}, {1, 2});
  const Tensor w = Tensor::of<int8_t>({1, 1, 1, 3}, {1, 10, 20});
  ConvTransposeParameters p;
  p.window.strides = {1, 2};
  EXPECT_EQ(reference_conv_transpose(x, w, zeros(1), kOne, kNoShift, p).to_integers(),
            (Integers{1, 10, 22, 20, 40}));
  p.window.pads = {0, 1, 0, 2};
  EXPECT_EQ(reference_conv_transpose(x, w, zeros(1), kOne, kNoShift, p).to_integers(), (Integers{10, 22}));
}

TEST(ReferenceConvTranspose, PadsLeaveSomethingOfEitherAxis) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 1, 1}, {1}), w = Tensor::of<int8_t>({1, 1, 1, 1}, {1});
  for (const std::vector<int64_t>& pads : {std::vector<int64_t>{1, 0, 0, 0}, {0, 0, 0, 1}}) {
    ConvTransposeParameters p;
    std::copy(pads.begin(), pads.end(), p.window.pads.begin());
    EXPECT_THROW(reference_conv_transpose(x, w, zeros(1), kOne, kNoShift, p), Error);
  }
}

TEST(ReferenceAdd, HandComputedAndSymmetric) {
  const Tensor a = Tensor::of<int8_t>({4}, {10, -10, 127, -128});
  const Tensor b = Tensor::of<int8_t>({4}, {3, 3, 127, -128});
  AddParameters p;
  p.multiplier_a = 2;
  p.multiplier_b = 5;
  p.bias = 1;
  p.shift = 2;
  // 36 / 4 = 9; -4 / 4 = -1; 890 / 4 -> 127; -895 / 4 -> -128.
  EXPECT_EQ(reference_add(a, b, p).to_integers(), (Integers{9, -1, 127, -128}));
  AddParameters swapped = p;
  std::swap(swapped.multiplier_a, swapped.multiplier_b);
  EXPECT_TRUE(reference_add(b, a, swapped).identical(reference_add(a, b, p)));
}

TEST(ReferenceMultiply, HandComputedWithZeroPointsAndBroadcast) {
  const Tensor a = Tensor::of<int8_t>({1, 2, 1, 2}, {10, -10, 127, -128});
  const Tensor gate = Tensor::of<int8_t>({2, 1, 1}, {-126, 127});
  MultiplyParameters p;
  p.a_zero_point = 1;
  p.b_zero_point = -128;
  p.shift = 2;
  p.output.y_zero_point = -3;
  // 9 * 2 / 4 -> 5 (4.5 up); -11 * 2 / 4 -> -5 (-5.5 up); 126 * 255 and -129 * 255 saturate.
  EXPECT_EQ(reference_multiply(a, gate, p).to_integers(), (Integers{2, -8, 127, -128}));
  MultiplyParameters swapped = p;
  std::swap(swapped.a_zero_point, swapped.b_zero_point);
  EXPECT_TRUE(reference_multiply(gate, a, swapped).identical(reference_multiply(a, gate, p)));
}

TEST(ReferenceAveragePool, HandComputedAndEqualToADepthwiseConv) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 2, 2}, {1, 2, 3, 5});
  AveragePoolParameters p;
  p.kernel = {2, 2};
  p.shift = 2;
  EXPECT_EQ(reference_average_pool(x, p).to_integers(), (Integers{3}));  // 11 / 4 = 2.75
  Random random(9);
  const Tensor big = random_tensor(ElementType::kI8, {2, 3, 7, 6}, -128, 127, random);
  p.kernel = {3, 2};
  p.window = {{2, 1}, {1, 2}, {1, 0, 1, 1}};
  p.pad_value = 4;
  p.bias = -17;
  p.multiplier = 1234567890;
  p.shift = 33;
  p.output = {3, -100, 90};
  ConvParameters q{p.window, 3, p.pad_value, p.output};
  const Tensor ones =
      Tensor::of<int8_t>({3, 1, 3, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Tensor expected =
      reference_conv(big, ones, Tensor::of<int32_t>({3}, {-17, -17, -17}),
                     Tensor::of<int32_t>({1}, {1234567890}), Tensor::of<int32_t>({1}, {33}), q);
  EXPECT_TRUE(reference_average_pool(big, p).identical(expected));
}

TEST(ReferenceMaxPool, PaddingNeverWinsAndCeilModeKeepsTheRest) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9});
  MaxPoolParameters p;
  p.kernel = {2, 2};
  p.window.strides = {2, 2};
  EXPECT_EQ(reference_max_pool(x, p).to_integers(), (Integers{-1}));
  p.ceil_mode = true;
  EXPECT_EQ(reference_max_pool(x, p).to_integers(), (Integers{-1, -3, -7, -9}));
  p.ceil_mode = false;
  p.window.pads = {1, 1, 0, 0};
  EXPECT_EQ(reference_max_pool(x, p).to_integers(), (Integers{-1, -2, -4, -5}));
  // The lowest value stays what it is, with padding beside it as well.
  const Tensor lowest = Tensor::of<int8_t>({1, 1, 2, 2}, {-128, -128, -128, -128});
  EXPECT_EQ(reference_max_pool(lowest, p).to_integers(), (Integers{-128}));
}

TEST(ReferenceRequantize, EqualsTheScalarRule) {
  Tensor x(ElementType::kI8, {256});
  for (int64_t i = 0; i < 256; ++i) x.set_integer(i, i - 128);
  const RequantizeParameters p{37, 1518500250, 32, {-4, -90, 100}};
  const Tensor y = reference_requantize(x, p);
  for (int64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(y.integer_at(i), requantize(int32_t(i - 128 + 37), {1518500250, 32}, -4, -90, 100));
  }
}

TEST(ReferenceRequantize, BipolarOutputsAreSigns) {
  const Tensor x = Tensor::of<int8_t>({5}, {-128, -1, 0, 1, 127});
  // x + 1/2 in halves, rounded up: 0 counts as positive.
  const RequantizeParameters p{1, 1, 1, {0, 0, 1, true}};
  EXPECT_EQ(reference_requantize(x, p).to_integers(), (Integers{-1, -1, 1, 1, 1}));
  const RequantizeParameters bits{1, 1, 1, {0, 0, 1, false}};
  EXPECT_EQ(reference_requantize(x, bits).to_integers(), (Integers{0, 0, 1, 1, 1}));
}

TEST(ReferenceKernels, RefuseWhatTheirContractExcludes) {
  const Tensor x(ElementType::kI8, {1, 4, 3, 3}), w(ElementType::kI8, {2, 4, 3, 3});
  const auto conv = [&](const Tensor& data, const Tensor& weights, const Tensor& bias, const Tensor& m,
                        const ConvParameters& p) {
    return refusal_text([&] { reference_conv(data, weights, bias, m, kNoShift, p); });
  };
  const auto expect_in = [](const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_in("X must be i8 or i16 of rank 4", conv(x.cast(ElementType::kU8), w, zeros(2), kOne, {}));
  expect_in("weights must be i8 or i16", conv(x, w.cast(ElementType::kI32), zeros(2), kOne, {}));
  expect_in("3 biases for 2 channels", conv(x, w, zeros(3), kOne, {}));
  expect_in("multipliers or shifts for 2 channels", conv(x, w, zeros(2), zeros(3), {}));
  expect_in("multiplier 0 must be positive", conv(x, w, zeros(2), zeros(1), {}));
  ConvParameters p;
  p.group = 3;
  expect_in("3 groups do not divide", conv(x, w, zeros(2), kOne, p));
  p = {};
  p.window.dilations = {2, 2};
  expect_in("does not fit", conv(x, w, zeros(2), kOne, p));
  p = {};
  p.window.pads = {-1, 0, 0, 0};
  expect_in("pads must not be negative", conv(x, w, zeros(2), kOne, p));
  p = {};
  p.window.strides = {0, 1};
  expect_in("strides and dilations", conv(x, w, zeros(2), kOne, p));
  p = {};
  p.output.clip_high = 128;
  expect_in("clip range -128..128", conv(x, w, zeros(2), kOne, p));
  p = {};
  p.output.bipolar = true;
  expect_in("a bipolar output has the clip range 0..1", conv(x, w, zeros(2), kOne, p));
  for (const int32_t sign : {-1, 1}) {
    p = {};
    p.output.y_zero_point = sign * ((1 << 30) - 1);
    EXPECT_EQ(conv(x, w, zeros(2), kOne, p), "no error");
    p.output.y_zero_point = sign * (1 << 30);
    expect_in("zero point " + std::to_string(sign * (1 << 30)) + " is out of range",
              conv(x, w, zeros(2), kOne, p));
  }
  expect_in("weights must be i8 or i16 of rank 4",
            conv(x, Tensor(ElementType::kI8, {2, 4, 9}), zeros(2), kOne, {}));
  p = {};
  p.pad_value = 300;
  expect_in("pad_value", conv(x, w, zeros(2), kOne, p));
  AddParameters a;
  a.multiplier_b = 1 << 23;
  expect_in("not below 2^23", refusal_text([&] { reference_add(x, x, a); }));
  expect_in("i8 of one shape", refusal_text([&] { reference_add(x, w, {}); }));
  MultiplyParameters m;
  m.b_zero_point = 128;
  expect_in("-128..127", refusal_text([&] { reference_multiply(x, x, m); }));
  expect_in("different depths", refusal_text([&] {
              reference_gemm(Tensor(ElementType::kI8, {1, 3}), Tensor(ElementType::kI8, {2, 4}), zeros(2),
                             kOne, kNoShift, {});
            }));
  RequantizeParameters r;
  r.shift = 63;
  expect_in("shift 63", refusal_text([&] { reference_requantize(x, r); }));
}

}  // namespace
}  // namespace tilewright
