#include "tilewright/tensor/reference_fixed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/error_text_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using Integers = std::vector<int64_t>;
using Wide = __int128;

Tensor random_fixed_tensor(const Shape& shape, int64_t limit, Random& random) {
  Tensor tensor(ElementType::kI32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-limit, limit));
  return tensor;
}

Tensor filled(const Shape& shape, int64_t value) {
  Tensor tensor(ElementType::kI32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, value);
  return tensor;
}

TEST(ReferenceFixed, ConvHandComputed) {
  const Tensor x = Tensor::of<int32_t>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor w = Tensor::of<int32_t>({1, 1, 2, 2}, {1, 0, -1, 2});
  const Tensor b = Tensor::of<int32_t>({1}, {3});
  FixedConvParameters p;
  p.fraction = 1;
  // (1 - 4 + 10 + 3 * 2) / 2 = 6.5, rounded up; then 7.5, 9.5 and 10.5.
  EXPECT_EQ(reference_fixed_conv(x, w, b, p).to_integers(), (Integers{7, 8, 10, 11}));
  p.clip = {8, 10};
  EXPECT_EQ(reference_fixed_conv(x, w, b, p).to_integers(), (Integers{8, 8, 10, 10}));
  p.clip = {};
  p.window.pads = {1, 1, 0, 0};
  p.window.strides = {2, 2};
  // Only x[0][0] * 2 in the corner: (2 + 6) / 2.
  EXPECT_EQ(reference_fixed_conv(x, w, b, p).to_integers()[0], 4);
}

// Sums that fit 64 bits equal those in 128 bits.
TEST(ReferenceFixed, GemmEqualsWideArithmetic) {
  Random random(9110);
  for (int round = 0; round < 300; ++round) {
    const int64_t k = random.between(1, 40), n = random.between(1, 3), o = random.between(1, 5);
    const int fraction = int(random.between(0, kMostFraction));
    const Tensor x = random_fixed_tensor({n, k}, int64_t{1} << random.between(4, 28), random);
    const Tensor w = random_fixed_tensor({o, k}, int64_t{1} << random.between(4, 28), random);
    const Tensor b = random_fixed_tensor({o}, INT32_MAX, random);
    const Tensor y = reference_fixed_gemm(x, w, b, fraction);
    for (int64_t i = 0; i < n * o; ++i) {
      Wide sum = Wide{b.integer_at(i % o)} * (Wide{1} << fraction);
      for (int64_t d = 0; d < k; ++d) sum += Wide{x.integer_at(i / o * k + d)} * w.integer_at(i % o * k + d);
      const double real = std::ldexp(double(sum), -fraction);
      const double expected = std::min(std::max(real, -0x1p31), 0x1p31 - 1);
      ASSERT_NEAR(double(y.integer_at(i)), expected, 0.5 + 1e-6) << "round " << round;
    }
  }
}

TEST(ReferenceFixed, AccumulatorsWrapModulo64Bits) {
  // 8 * 2^62 is 0 modulo 2^64.
  const Tensor x = filled({1, 8}, INT32_MIN);
  const Tensor b = Tensor::of<int32_t>({1}, {5});
  EXPECT_EQ(reference_fixed_gemm(x, x, b, 22).integer_at(0), 5);
}

TEST(ReferenceFixed, AveragePoolIsWithinOneStepOfTheMean) {
  Random random(9111);
  for (int round = 0; round < 200; ++round) {
    const Tensor x = random_fixed_tensor({1, 2, 6, 7}, 1 << 24, random);
    FixedAveragePoolParameters p;
    p.kernel = {random.between(1, 6), random.between(1, 7)};
    p.multiplier = fixed_average_multiplier(p.kernel[0] * p.kernel[1], p.fraction);
    const Tensor y = reference_fixed_average_pool(x, p);
    double sum = 0;
    for (int64_t r = 0; r < p.kernel[0]; ++r) {
      for (int64_t c = 0; c < p.kernel[1]; ++c) sum += x.number_at(r * 7 + c);
    }
    // The multiplier is off by at most 1/2 in 2^22, times a sum of at most 42 * 2^24.
    const double slack = 0.5 + std::abs(sum) * 0x1p-23;
    ASSERT_NEAR(y.number_at(0), sum / double(p.kernel[0] * p.kernel[1]), slack + 1e-6);
  }
}

TEST(ReferenceFixed, ConversionsAndTables) {
  const Tensor real = Tensor::of<float>({3}, {1.5f, -0.25f, 1e9f});
  const Tensor fixed = reference_fixed_encode(real, 2);
  EXPECT_EQ(fixed.to_integers(), (Integers{6, -1, INT32_MAX}));
  EXPECT_EQ(reference_fixed_decode(fixed, 2).to_floats(), (std::vector<float>{1.5f, -0.25f, 0x1p29f}));
  Tensor table(ElementType::kI8, {256});
  for (int64_t i = 0; i < 256; ++i) table.set_integer(i, 127 - i);
  EXPECT_EQ(reference_lookup(Tensor::of<int8_t>({3}, {-128, 0, 127}), table).to_integers(),
            (Integers{127, -1, -128}));
  EXPECT_EQ(reference_fixed_add(fixed, fixed, {-1, 12}).to_integers(), (Integers{12, -1, 12}));
}

TEST(ReferenceFixed, Rejects) {
  const Tensor x(ElementType::kI32, {1, 2, 3, 3}), w(ElementType::kI32, {4, 2, 2, 2}),
      b(ElementType::kI32, {4});
  const Tensor bytes(ElementType::kI8, {1, 2, 3, 3});
  FixedConvParameters p;
  EXPECT_EQ(error_text([&] { reference_fixed_conv(bytes, w, b, p); }),
            "FixedConv: X must be i32 of rank 4, is i8[1x2x3x3]");
  EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, Tensor(ElementType::kI32, {3}), p); }),
            "FixedConv: 3 biases for 4 channels");
  p.group = 3;
  EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, b, p); }),
            "FixedConv: 3 groups do not divide X 1x2x3x3 and weights 4x2x2x2");
  p = {};
  p.fraction = 31;
  EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, b, p); }), "FixedConv: fraction 31 is outside 0..30");
  p = {};
  for (size_t axis = 0; axis < 2; ++axis) {
    p = {};
    p.window.strides[axis] = 0;
    EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, b, p); }),
              "FixedConv: strides and dilations must be at least 1");
    p = {};
    p.window.dilations[axis] = 0;
    EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, b, p); }),
              "FixedConv: strides and dilations must be at least 1");
    FixedAveragePoolParameters pool;
    pool.kernel = {2, 2};
    pool.window.strides[axis] = 0;
    EXPECT_EQ(error_text([&] { reference_fixed_average_pool(x, pool); }),
              "FixedAveragePool: strides and dilations must be at least 1");
  }
  for (size_t side = 0; side < 4; ++side) {
    p = {};
    p.window.pads[side] = -1;
    EXPECT_EQ(error_text([&] { reference_fixed_conv(x, w, b, p); }), "FixedConv: pads must not be negative");
  }
  EXPECT_EQ(error_text([&] {
              reference_fixed_conv(x, Tensor(ElementType::kI32, {4, 2, 4, 4}), b, {});
            }),
            "FixedConv: the window does not fit into the padded input");
  const Tensor m(ElementType::kI32, {2, 3}), n(ElementType::kI32, {4, 5});
  EXPECT_EQ(error_text([&] { reference_fixed_gemm(m, n, b, 22); }),
            "FixedGemm: 2x3 times 4x5 (transposed): the inner sizes differ");
  EXPECT_EQ(error_text([&] { reference_fixed_add(m, n); }), "FixedAdd: shapes 2x3 and 4x5 differ");
  EXPECT_EQ(error_text([&] { reference_fixed_lookup(x, b, 3); }), "FixedLookup: T has 4 entries, not 513");
  EXPECT_EQ(error_text([&] { reference_fixed_lookup(x, Tensor(ElementType::kI32, {513}), 24); }),
            "FixedLookup: input_shift 24 is outside 0..23");
  EXPECT_EQ(error_text([&] { reference_lookup(bytes, Tensor(ElementType::kI8, {255})); }),
            "QLookup: T has 255 entries, not 256");
}

}  // namespace
}  // namespace tilewright
