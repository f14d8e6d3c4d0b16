#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::run_op;
using Ints = std::vector<int64_t>;

Tensor random_bytes(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_integer(i, random.between(lowest(type), highest(type)));
  return tensor;
}

ElementType random_byte_type(Random& random) {
  return random.chance(0.5) ? ElementType::kI8 : ElementType::kU8;
}

Tensor scalar_of(ElementType type, int64_t value) {
  Tensor tensor(type, Shape{});
  tensor.set_integer(0, value);
  return tensor;
}

// ONNX: saturate(round_half_even(x / scale) + zero_point).
int64_t quantized(double value, int64_t zero_point, ElementType type) {
  return std::min(highest(type), std::max(lowest(type), int64_t(std::nearbyint(value)) + zero_point));
}

TEST(QuantizeLinear, RoundsHalfToEvenAndSaturates) {
  const Tensor x = Tensor::of<float>({8}, {1, 3, 5, -1, -3, 1e30f, -1e30f, 254});
  const Tensor y = run_op("QuantizeLinear", {x, Tensor::scalar(2.0f), Tensor::scalar(uint8_t{128})})[0];
  EXPECT_EQ(y.to_integers(), (Ints{128, 130, 130, 128, 126, 255, 0, 255}));
  EXPECT_EQ(y.type(), ElementType::kU8);
  EXPECT_EQ(run_op("QuantizeLinear", {x, Tensor::scalar(2.0f)})[0].type(), ElementType::kU8);
}

TEST(QuantizeLinear, EveryTypeAndAxisFollowsTheFormulaAndComesBack) {
  const uint64_t seed = 61;
  Random random(seed);
  for (const ElementType type : {ElementType::kI8, ElementType::kU8, ElementType::kI16, ElementType::kU16,
                                 ElementType::kI4, ElementType::kU4, ElementType::kI2}) {
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(::testing::Message() << name(type) << " round " << round << " seed " << seed);
      const Shape shape{random.between(1, 4), random.between(1, 5), random.between(1, 6)};
      const int axis = int(random.between(0, 2));
      const bool per_axis = random.chance(0.6);
      const Shape scale_shape = per_axis ? Shape{shape[axis]} : Shape{};
      Tensor x(ElementType::kF32, shape), scale(ElementType::kF32, scale_shape), zero(type, scale_shape);
      for (int64_t i = 0; i < scale.size(); ++i) {
        scale.set_number(i, 0.01 + random.uniform());
        zero.set_integer(i, random.between(lowest(type), highest(type)));
      }
      for (int64_t i = 0; i < x.size(); ++i)
        x.set_number(i, (random.uniform() - 0.5) * 1.2 * double(highest(type)));
      const Attributes attrs{{"axis", int64_t{axis - (random.chance(0.5) ? 3 : 0)}}};
      const Tensor q = run_op("QuantizeLinear", {x, scale, zero}, attrs)[0];
      const Tensor back = run_op("DequantizeLinear", {q, scale, zero}, attrs)[0];
      ASSERT_EQ(q.type(), type);
      for (int64_t i = 0; i < x.size(); ++i) {
        const int64_t inner = shape.count(axis + 1, 3);
        const int64_t c = per_axis ? i / inner % shape[axis] : 0;
        const float ratio = float(x.number_at(i)) / float(scale.number_at(c));
        ASSERT_EQ(q.integer_at(i), quantized(ratio, zero.integer_at(c), type));
        ASSERT_EQ(float(back.number_at(i)),
                  float(q.integer_at(i) - zero.integer_at(c)) * float(scale.number_at(c)));
      }
    }
  }
}

TEST(DequantizeLinear, TakesAccumulators) {
  const Tensor x = Tensor::of<int32_t>({3}, {-5, 0, 1 << 30});
  EXPECT_EQ(run_op("DequantizeLinear", {x, Tensor::scalar(0.5f)})[0].to_floats(),
            (std::vector<float>{-2.5f, 0, float(1 << 29)}));
}

TEST(DynamicQuantizeLinear, FollowsTheFormula) {
  const Tensor x = Tensor::of<float>({6}, {0, 2, -3, -2.5f, 1.34f, 0.5f});
  const auto out = run_op("DynamicQuantizeLinear", {x}, {}, 3);
  EXPECT_FLOAT_EQ(out[1].to_floats()[0], 5.0f / 255);
  EXPECT_EQ(out[2].integer_at(0), 153);
  EXPECT_EQ(out[0].to_integers(), (Ints{153, 255, 0, 26, 221, 179}));
  const auto zeros = run_op("DynamicQuantizeLinear", {Tensor(ElementType::kF32, {2})}, {}, 3);
  EXPECT_EQ(zeros[0].to_integers(), (Ints{0, 0}));
}

// ConvInteger and QLinearConv from their definition, with every combination of types and zero points.
TEST(OnnxInteger, ConvolutionsFollowTheDefinition) {
  const uint64_t seed = 62;
  Random random(seed);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType xt = random_byte_type(random), wt = random_byte_type(random),
                      yt = random_byte_type(random);
    const int64_t group = random.between(1, 2), c = random.between(1, 4), o = random.between(1, 5) * group;
    const int64_t k = random.between(1, 3), h = random.between(4, 9), stride = random.between(1, 2);
    const int64_t pad = random.between(0, 1), out = (h + 2 * pad - k) / stride + 1;
    const Tensor x = random_bytes(xt, {1, c * group, h, h}, random),
                 w = random_bytes(wt, {o, c, k, k}, random);
    const bool per_channel = random.chance(0.5);
    const Tensor xz = scalar_of(xt, random.between(lowest(xt), highest(xt)));
    const Tensor wz = per_channel ? random_bytes(wt, {o}, random) : scalar_of(wt, random.between(-3, 3));
    Ints expected;
    for (int64_t i = 0; i < o * out * out; ++i) {
      const int64_t oc = i / (out * out), oy = i / out % out, ox = i % out, g = oc / (o / group);
      int64_t sum = 0;
      for (int64_t j = 0; j < c * k * k; ++j) {
        const int64_t ic = g * c + j / (k * k), iy = oy * stride - pad + j / k % k,
                      ix = ox * stride - pad + j % k;
        if (iy < 0 || ix < 0 || iy >= h || ix >= h) continue;
        sum += (x.integer_at((ic * h + iy) * h + ix) - xz.integer_at(0)) *
               (w.integer_at(oc * c * k * k + j) - wz.integer_at(per_channel ? oc : 0));
      }
      expected.push_back(sum);
    }
    const Attributes attrs{
        {"group", group}, {"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}};
    ASSERT_EQ(run_op("ConvInteger", {x, w, xz, wz}, attrs)[0].to_integers(), expected);
    Tensor ws(ElementType::kF32, per_channel ? Shape{o} : Shape{}), bias(ElementType::kI32, {o});
    for (int64_t i = 0; i < ws.size(); ++i) ws.set_number(i, 0.001 + 0.01 * random.uniform());
    for (int64_t i = 0; i < o; ++i) bias.set_integer(i, random.between(-1000, 1000));
    const Tensor xs = Tensor::scalar(0.02f), ys = Tensor::scalar(0.05f);
    const Tensor yz = scalar_of(yt, random.between(lowest(yt), highest(yt)));
    const Tensor y = run_op("QLinearConv", {x, xs, xz, w, ws, wz, ys, yz, bias}, attrs)[0];
    ASSERT_EQ(y.type(), yt);
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t oc = i / (out * out);
      const float scale = 0.02f * float(ws.number_at(per_channel ? oc : 0)) / 0.05f;
      const float value = float(expected[size_t(i)] + bias.integer_at(oc)) * scale;
      ASSERT_EQ(y.integer_at(i), quantized(value, yz.integer_at(0), yt));
    }
  }
}

TEST(OnnxInteger, MatrixProductsFollowTheDefinition) {
  const uint64_t seed = 63;
  Random random(seed);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const ElementType at = random_byte_type(random), bt = random_byte_type(random),
                      yt = random_byte_type(random);
    const int64_t m = random.between(1, 12), n = random.between(1, 30), k = random.between(1, 20);
    const int64_t batch = random.between(1, 3);
    const bool a_batched = random.chance(0.5), b_batched = random.chance(0.5);
    const Tensor a = random_bytes(at, a_batched ? Shape{batch, m, k} : Shape{m, k}, random);
    const Tensor b = random_bytes(bt, b_batched ? Shape{batch, k, n} : Shape{k, n}, random);
    const bool rows = random.chance(0.4), columns = random.chance(0.4);
    const Tensor az = random_bytes(at, rows ? Shape{m} : Shape{}, random);
    const Tensor bz = random_bytes(bt, columns ? Shape{n} : Shape{}, random);
    const int64_t batches = a_batched || b_batched ? batch : 1;
    Ints expected;
    for (int64_t i = 0; i < batches * m * n; ++i) {
      const int64_t z = i / (m * n), r = i / n % m, col = i % n;
      int64_t sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        sum += (a.integer_at(((a_batched ? z : 0) * m + r) * k + j) - az.integer_at(rows ? r : 0)) *
               (b.integer_at(((b_batched ? z : 0) * k + j) * n + col) - bz.integer_at(columns ? col : 0));
      }
      expected.push_back(sum);
    }
    const Tensor y = run_op("MatMulInteger", {a, b, az, bz})[0];
    ASSERT_EQ(y.shape(), (a_batched || b_batched ? Shape{batch, m, n} : Shape{m, n}));
    ASSERT_EQ(y.to_integers(), expected);
    const Tensor yz = scalar_of(yt, random.between(lowest(yt), highest(yt)));
    Tensor bs(ElementType::kF32, columns ? Shape{n} : Shape{});
    for (int64_t i = 0; i < bs.size(); ++i) bs.set_number(i, 0.01 + 0.02 * random.uniform());
    const Tensor q =
        run_op("QLinearMatMul", {a, Tensor::scalar(0.02f), az, b, bs, bz, Tensor::scalar(0.9f), yz})[0];
    for (int64_t i = 0; i < q.size(); ++i) {
      const float scale = 0.02f * float(bs.number_at(columns ? i % n : 0)) / 0.9f;
      ASSERT_EQ(q.integer_at(i), quantized(float(expected[size_t(i)]) * scale, yz.integer_at(0), yt));
    }
  }
}

TEST(OnnxInteger, VectorsLoseTheirAxis) {
  const Tensor a = Tensor::of<int8_t>({2}, {3, 4}), b = Tensor::of<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_op("MatMulInteger", {a, b})[0].shape(), (Shape{3}));
  EXPECT_EQ(run_op("MatMulInteger", {a, b})[0].to_integers(), (Ints{19, 26, 33}));
  EXPECT_EQ(run_op("MatMulInteger", {a, a})[0].shape(), Shape{});
}

TEST(OnnxInteger, EmptyMatricesGiveEmptyOrZeroProducts) {
  const auto product = [](Shape a, Shape b) {
    return run_op("MatMulInteger",
                  {Tensor(ElementType::kU8, std::move(a)), Tensor(ElementType::kI8, std::move(b))})[0];
  };
  EXPECT_EQ(product({0, 3}, {3, 2}).shape(), (Shape{0, 2}));
  EXPECT_EQ(product({2, 3}, {3, 0}).shape(), (Shape{2, 0}));
  EXPECT_EQ(product({2, 0}, {0, 2}).to_integers(), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(product({0, 2, 3}, {3, 2}).shape(), (Shape{0, 2, 2}));
}

TEST(OnnxInteger, RefusesWhatDoesNotFit) {
  const auto expect_in = [](const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const Tensor x(ElementType::kU8, {1, 2, 3, 3}), w(ElementType::kU8, {4, 2, 1, 1});
  expect_in("the weight zero point has 3 numbers, 1 or 4 are needed", error_text([&] {
              run_op("ConvInteger", {x, w, std::nullopt, Tensor(ElementType::kU8, {3})});
            }));
  expect_in("element type f32 is not supported", error_text([&] {
              run_op("ConvInteger", {x.cast(ElementType::kF32), w});
            }));
  expect_in("do not fit", error_text([&] {
              run_op("MatMulInteger", {Tensor(ElementType::kU8, {2, 3}), Tensor(ElementType::kU8, {2, 3})});
            }));
  expect_in("2 scales for 3 channels on axis 1", error_text([&] {
              run_op("QuantizeLinear", {Tensor(ElementType::kF32, {2, 3}), Tensor(ElementType::kF32, {2}),
                                        Tensor(ElementType::kI8, {2})});
            }));
  expect_in("2 scales but 1 zero points", error_text([&] {
              run_op("DequantizeLinear", {Tensor(ElementType::kI8, {2, 2}), Tensor(ElementType::kF32, {2}),
                                          Tensor(ElementType::kI8, {1})});
            }));
  expect_in(
      "scales per block", error_text([&] {
        run_op("DequantizeLinear", {Tensor(ElementType::kI8, {2, 2}), Tensor(ElementType::kF32, {2, 1})});
      }));
}

}  // namespace
}  // namespace tilewright
