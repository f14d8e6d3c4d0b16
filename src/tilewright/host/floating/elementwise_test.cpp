// Unary and binary element-wise operators and Cast against hand-computed values.
#include <gtest/gtest.h>

#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using Integers = std::vector<int64_t>;
using testing::contains;
using testing::distance;
using testing::f32;
using testing::i64;
using testing::run_op;

Tensor unary(const char* op, const Tensor& x, Attributes attributes = {}) {
  return run_op(op, {x}, std::move(attributes))[0];
}
Tensor binary(const char* op, const Tensor& a, const Tensor& b, Attributes attributes = {}) {
  return run_op(op, {a, b}, std::move(attributes))[0];
}

struct RealCase {
  const char* op;
  Attributes attributes;
  std::vector<float> in, out;
};

TEST(Unary, RealFunctions) {
  const std::vector<RealCase> cases = {
      {"Ceil", {}, {-1.5f, 1.2f}, {-1, 2}},
      {"Floor", {}, {-1.5f, 1.2f}, {-2, 1}},
      {"Round", {}, {0.5f, 1.5f, -2.5f, 2.6f}, {0, 2, -2, 3}},
      {"Cos", {}, {0, 1}, {1, 0.5403023f}},
      {"Sin", {}, {0, 1}, {0, 0.8414710f}},
      {"Tanh", {}, {0, 1}, {0, 0.7615942f}},
      {"Erf", {}, {0, 1}, {0, 0.8427008f}},
      {"Exp", {}, {0, 1}, {1, 2.7182818f}},
      {"Log", {}, {1, 10}, {0, 2.3025851f}},
      {"Sqrt", {}, {4, 2}, {2, 1.4142136f}},
      {"Reciprocal", {}, {4, -2}, {0.25f, -0.5f}},
      {"Sigmoid", {}, {0, 2, -200}, {0.5f, 0.8807970f, 0}},
      {"Softplus", {}, {0, 200, -200}, {0.6931472f, 200, 0}},
      {"Softsign", {}, {1, -3}, {0.5f, -0.75f}},
      {"HardSwish", {}, {-4, 0, 1, 5}, {0, 0, 0.6666667f, 5}},
      {"HardSigmoid", {}, {-10, 0, 1, 10}, {0, 0.5f, 0.7f, 1}},
      {"HardSigmoid", {{"alpha", 0.5f}, {"beta", 0.25f}}, {1}, {0.75f}},
      {"Elu", {{"alpha", 2.0f}}, {1, -1}, {1, -1.2642411f}},
      {"Selu", {}, {1, -1}, {1.0507010f, -1.1113307f}},
      {"LeakyRelu", {{"alpha", 0.1f}}, {1, -1}, {1, -0.1f}},
      {"ThresholdedRelu", {{"alpha", 2.0f}}, {1, 2, 3}, {0, 0, 3}},
      {"Relu", {}, {-1, 0, 2}, {0, 0, 2}},
      {"Abs", {}, {-1, 2}, {1, 2}},
      {"Neg", {}, {-1, 2}, {1, -2}},
      {"Sign", {}, {-5, 0, 7}, {-1, 0, 1}},
  };
  for (const RealCase& c : cases) {
    const Shape shape{int64_t(c.in.size())};
    const Tensor expected(shape, std::span<const float>(c.out));
    const Tensor x(shape, std::span<const float>(c.in));
    EXPECT_LE(distance(unary(c.op, x, c.attributes), expected), 2e-6) << c.op;
    EXPECT_LE(distance(unary(c.op, x.cast(ElementType::kF64), c.attributes), expected), 2e-6) << c.op;
    const Tensor half = unary(c.op, x.cast(ElementType::kF16), c.attributes);
    EXPECT_EQ(half.type(), ElementType::kF16);
    EXPECT_LE(distance(half, expected), 0.06) << c.op;  // half an ulp of 200
  }
}

TEST(Unary, IntegersAndLimits) {
  const Tensor x = Tensor::of<int8_t>({4}, {-128, -1, 0, 127});
  EXPECT_EQ(unary("Abs", x).to_integers(), (std::vector<int64_t>{-128, 1, 0, 127}));
  EXPECT_EQ(unary("Neg", x).to_integers(), (std::vector<int64_t>{-128, 1, 0, -127}));
  EXPECT_EQ(unary("Sign", x).to_integers(), (std::vector<int64_t>{-1, -1, 0, 1}));
  EXPECT_EQ(unary("Relu", x).to_integers(), (std::vector<int64_t>{0, 0, 0, 127}));
  EXPECT_EQ(unary("Not", Tensor::of<bool>({2}, {true, false})).to_integers(), (std::vector<int64_t>{0, 1}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(unary("Relu", f32({1}, {nan})).number_at(0)));
  EXPECT_PRED2(contains, error_text([&] { unary("Exp", x); }),
               "node 'n' (Exp): element type i8 is not supported");
}

TEST(Unary, ClipTakesOptionalBounds) {
  const Tensor x = f32({3}, {-5, 0, 5});
  EXPECT_EQ(run_op("Clip", {x, Tensor::scalar(-1.0f)})[0].to_floats(), (std::vector<float>{-1, 0, 5}));
  EXPECT_EQ(run_op("Clip", {x, std::nullopt, Tensor::scalar(1.0f)})[0].to_floats(),
            (std::vector<float>{-5, 0, 1}));
  EXPECT_EQ(run_op("Clip", {x})[0].to_floats(), (std::vector<float>{-5, 0, 5}));
  EXPECT_THROW(run_op("Clip", {x, i64({1})}), Error);
}

TEST(Unary, ManyElementsOnTwoThreads) {
  Tensor x(ElementType::kF32, Shape{300001});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[size_t(i)] = float(i % 7) - 3;
  const Tensor one = run_op("Relu", {x})[0], two = run_op("Relu", {x}, {}, 1, "", {2})[0];
  EXPECT_TRUE(one.identical(two));
}

TEST(Binary, BroadcastsInEveryDirection) {
  const Tensor a = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), b = f32({2, 1}, {10, 20});
  const Tensor sum = binary("Add", a, b);
  EXPECT_EQ(sum.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(sum.to_floats(), (std::vector<float>{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
  const Tensor difference = binary("Sub", Tensor::scalar(1.0f), a);
  EXPECT_EQ(difference.to_floats(), (std::vector<float>{0, -1, -2, -3, -4, -5}));
  EXPECT_EQ(binary("Mul", Tensor(ElementType::kF32, Shape{0, 3}), f32({3}, {1, 2, 3})).shape(),
            (Shape{0, 3}));
  EXPECT_THROW(binary("Add", f32({2}, {1, 2}), f32({3}, {1, 2, 3})), Error);
  EXPECT_PRED2(contains, error_text([&] { binary("Add", a, i64({1})); }),
               "different element types, f32 and i64");
}

// Every element of a random broadcast against index arithmetic.
TEST(Binary, RandomBroadcastsMatchIndexArithmetic) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    const int rank = int(random.between(0, 5));
    std::vector<int64_t> full, a_dims, b_dims;
    for (int axis = 0; axis < rank; ++axis) {
      full.push_back(random.between(1, 4));
      a_dims.push_back(random.chance(0.4) ? 1 : full.back());
      b_dims.push_back(random.chance(0.4) ? 1 : full.back());
    }
    b_dims.erase(b_dims.begin(), b_dims.begin() + random.between(0, rank));
    const Tensor a = testing::random_tensor(random, ElementType::kF64, Shape(a_dims));
    const Tensor b = testing::random_tensor(random, ElementType::kF64, Shape(b_dims));
    const Tensor y = binary("Sub", a, b);
    ASSERT_EQ(y.shape(), broadcast(a.shape(), b.shape()));
    const auto pick = [&](const Tensor& t, int64_t flat) {
      int64_t index = 0, scale = 1;
      for (int axis = y.shape().rank() - 1; axis >= 0; --axis) {
        const int64_t at = flat % y.shape()[axis];
        flat /= y.shape()[axis];
        const int own = axis - (y.shape().rank() - t.shape().rank());
        if (own < 0) continue;
        index += t.shape()[own] == 1 ? 0 : at * scale;
        scale *= t.shape()[own];
      }
      return t.number_at(index);
    };
    for (int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.number_at(i), pick(a, i) - pick(b, i));
  }
}

TEST(Binary, IntegerArithmeticWrapsAndRefusesZero) {
  const auto i8 = [](std::initializer_list<int8_t> v) { return Tensor::of<int8_t>({int64_t(v.size())}, v); };
  EXPECT_EQ(binary("Add", i8({127}), i8({1})).integer_at(0), -128);
  EXPECT_EQ(binary("Mul", i8({100}), i8({3})).integer_at(0), 44);
  EXPECT_EQ(binary("Div", i8({-7, -128}), i8({2, -1})).to_integers(), (std::vector<int64_t>{-3, -128}));
  EXPECT_EQ(binary("Mod", i8({-7, 7, -128}), i8({3, -3, -1})).to_integers(),
            (std::vector<int64_t>{2, -2, 0}));
  EXPECT_EQ(binary("Mod", i8({-7, 7}), i8({3, -3}), {{"fmod", int64_t{1}}}).to_integers(),
            (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(binary("Mod", f32({2}, {-4.5f, 5}), f32({2}, {3, -3}), {{"fmod", int64_t{1}}}).to_floats(),
            (std::vector<float>{-1.5f, 2}));
  EXPECT_PRED2(contains, error_text([&] { binary("Div", i8({1}), i8({0})); }), "integer division by zero");
  EXPECT_PRED2(contains, error_text([&] { binary("Mod", i8({1}), i8({0})); }), "integer modulo by zero");
  const auto minimum = Tensor::scalar(std::numeric_limits<int64_t>::lowest());
  EXPECT_EQ(binary("Div", minimum, i64({-1})).integer_at(0), std::numeric_limits<int64_t>::lowest());
}

TEST(Binary, Powers) {
  EXPECT_EQ(binary("Pow", f32({2}, {3, -2}), f32({1}, {2})).to_floats(), (std::vector<float>{9, 4}));
  EXPECT_EQ(binary("Pow", i64({3, -1, 2}), i64({4, -3, -1})).to_integers(),
            (std::vector<int64_t>{81, -1, 0}));
  EXPECT_EQ(binary("Pow", i64({2, 9}), f32({2}, {3, 0.5f})).to_integers(), (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(binary("Pow", f32({1}, {2}), i64({10})).to_floats(), (std::vector<float>{1024}));
}

TEST(Binary, VariadicAndPRelu) {
  const Tensor a = f32({2}, {1, 8}), b = f32({1}, {4}), c = f32({2}, {7, 0});
  EXPECT_EQ(run_op("Sum", {a, b, c})[0].to_floats(), (std::vector<float>{12, 12}));
  EXPECT_EQ(run_op("Mean", {a, b, c})[0].to_floats(), (std::vector<float>{4, 4}));
  EXPECT_EQ(run_op("Max", {a, b, c})[0].to_floats(), (std::vector<float>{7, 8}));
  EXPECT_EQ(run_op("Min", {a, b, c})[0].to_floats(), (std::vector<float>{1, 0}));
  EXPECT_EQ(run_op("Max", {a})[0].to_floats(), (std::vector<float>{1, 8}));
  const Tensor x = f32({2, 2}, {-1, 2, -3, 4}), slope = f32({2, 1}, {0.5f, 2});
  EXPECT_EQ(binary("PRelu", x, slope).to_floats(), (std::vector<float>{-0.5f, 2, -6, 4}));
  EXPECT_THROW(binary("PRelu", slope, x), Error);
}

TEST(Binary, ComparisonsLogicAndWhere) {
  const Tensor a = i64({1, 2, 3}), b = i64({2});
  const auto bits = [](const Tensor& t) { return t.to_integers(); };
  using Bits = std::vector<int64_t>;
  EXPECT_EQ(bits(binary("Equal", a, b)), (Bits{0, 1, 0}));
  EXPECT_EQ(bits(binary("Less", a, b)), (Bits{1, 0, 0}));
  EXPECT_EQ(bits(binary("LessOrEqual", a, b)), (Bits{1, 1, 0}));
  EXPECT_EQ(bits(binary("Greater", a, b)), (Bits{0, 0, 1}));
  EXPECT_EQ(bits(binary("GreaterOrEqual", a, b)), (Bits{0, 1, 1}));
  const Tensor p = Tensor::of<bool>({4}, {false, false, true, true});
  const Tensor q = Tensor::of<bool>({4}, {false, true, false, true});
  EXPECT_EQ(bits(binary("And", p, q)), (Bits{0, 0, 0, 1}));
  EXPECT_EQ(bits(binary("Or", p, q)), (Bits{0, 1, 1, 1}));
  EXPECT_EQ(bits(binary("Xor", p, q)), (Bits{0, 1, 1, 0}));
  EXPECT_EQ(bits(binary("Equal", p, q)), (Bits{1, 0, 0, 1}));
  EXPECT_EQ(binary("Equal", p, q).type(), ElementType::kBool);
  const Tensor chosen = run_op("Where", {Tensor::of<bool>({2, 1}, {true, false}), i64({1, 2}), i64({9})})[0];
  EXPECT_EQ(chosen.to_integers(), (Bits{1, 2, 9, 9}));
}

Tensor cast(const Tensor& x, int64_t to) { return run_op("Cast", {x}, {{"to", to}})[0]; }

TEST(Cast, TruncatesSaturatesAndWraps) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(cast(f32({7}, {1.9f, -1.9f, 300, -300, inf, -inf, nan}), 3).to_integers(),
            (Integers{1, -1, 127, -128, 127, -128, 0}));
  EXPECT_EQ(cast(f32({2}, {1e30f, -1}), 13).bytes()[0], std::byte{0xff});
  EXPECT_EQ(cast(f32({2}, {1e30f, -1e30f}), 7).to_integers(),
            (Integers{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::lowest()}));
  EXPECT_EQ(cast(i64({300, -1, 127}), 3).to_integers(), (Integers{44, -1, 127}));
  EXPECT_EQ(cast(f32({3}, {0, 0.25f, nan}), 9).to_integers(), (Integers{0, 1, 1}));
  EXPECT_EQ(cast(Tensor::of<bool>({2}, {true, false}), 1).to_floats(), (std::vector<float>{1, 0}));
  EXPECT_EQ(cast(Tensor::of<uint64_t>({1}, {uint64_t{1} << 63}), 11).number_at(0), 0x1p63);
  EXPECT_EQ(cast(f32({1}, {65520}), 10).number_at(0), inf);
  EXPECT_EQ(cast(i64({4097}), 10).number_at(0), 4096);
  EXPECT_PRED2(contains, error_text([&] { cast(f32({1}, {0}), 8); }),
               "cast to ONNX data type 8 is not supported");
}

TEST(Cast, LongTensorsInBlocks) {
  Tensor x(ElementType::kI32, Shape{1500});
  for (int32_t i = 0; i < 1500; ++i) x.mutable_data<int32_t>()[size_t(i)] = i - 700;
  const Tensor y = cast(x, 1);
  for (int64_t i = 0; i < 1500; ++i) ASSERT_EQ(y.number_at(i), double(i - 700));
}

}  // namespace
}  // namespace tilewright
