// Element-wise operators with broadcasting, activations, reductions and changes of type.
#include "nhwc_testing.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

// "x" through a 1x1 convolution with the identity: a tensor that is there channels-first.
int through_convolution(TfliteBuilder& model, int x, const Shape& shape, const std::string& name) {
  Tensor identity(ElementType::kF32, {shape[3], 1, 1, shape[3]});
  for (int64_t c = 0; c < shape[3]; ++c) identity.set_number(c * shape[3] + c, 1);
  const int weights = model.constant(name + "_identity", identity);
  const int copy = model.add(name, ElementType::kF32, dims_of(shape));
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  model.op(Op::BuiltinOperator_CONV_2D, {x, weights, -1}, {copy}, options);
  return copy;
}

struct BinaryCase {
  Op op;
  double (*f)(double, double);
};

TEST(TfliteElementwise, BinaryOperatorsBroadcastAsNumpyInEitherLayout) {
  Random random(21);
  const BinaryCase cases[] = {
      {Op::BuiltinOperator_ADD, [](double a, double b) { return a + b; }},
      {Op::BuiltinOperator_SUB, [](double a, double b) { return a - b; }},
      {Op::BuiltinOperator_MUL, [](double a, double b) { return a * b; }},
      {Op::BuiltinOperator_DIV, [](double a, double b) { return a / b; }},
      {Op::BuiltinOperator_MAXIMUM, [](double a, double b) { return std::max(a, b); }},
      {Op::BuiltinOperator_MINIMUM, [](double a, double b) { return std::min(a, b); }}};
  const Shape shape{1, 3, 4, 5};
  const std::vector<Shape> others = {{1, 3, 4, 5}, {1, 1, 1, 5}, {5}, {4, 5}, {3, 1, 1}, {}, {4, 1}};
  for (const BinaryCase& c : cases) {
    for (const Shape& other : others) {
      for (int form = 0; form < 4; ++form) {  // convolution before x or not, the other constant or an input
        SCOPED_TRACE(testing::Message()
                     << schema::EnumNameBuiltinOperator(c.op) << " " << to_string(other) << " form " << form);
        const Tensor x = random_tensor(random, shape);
        Tensor b = random_tensor(random, other);
        for (float& number : b.mutable_data<float>()) number += number < 0 ? -0.5f : 0.5f;
        const auto of_b = [&](int64_t y, int64_t xx, int64_t ch) {
          int64_t index = 0;
          const int64_t at[3] = {y, xx, ch};
          for (int a = 0; a < std::min(other.rank(), 3); ++a) {
            const int axis = other.rank() - std::min(other.rank(), 3) + a;
            index = index * other[axis] + (other[axis] == 1 ? 0 : at[3 - std::min(other.rank(), 3) + a]);
          }
          return b.number_at(index);
        };
        const Tensor expected = nhwc(shape, [&](auto n, auto y, auto xx, auto ch) {
          return c.f(at(x, n, y, xx, ch), of_b(y, xx, ch));
        });
        TfliteBuilder model;
        std::vector<Tensor> inputs;
        inputs.reserve(2);
        inputs.push_back(x);
        int left = model.input("x", dims_of(shape));
        if (form % 2 == 1) left = through_convolution(model, left, shape, "copy");
        int right = 0;
        if (form < 2) {
          right = model.constant("b", b);
        } else {
          right = model.input("b", dims_of(other));
          inputs.push_back(b);
        }
        model.op(c.op, {left, right}, {model.output("y", dims_of(shape))});
        expect_output(model, inputs, expected);
      }
    }
  }
}

struct UnaryCase {
  Op op;
  double (*f)(double);
};

TEST(TfliteElementwise, UnaryOperators) {
  const UnaryCase cases[] = {
      {Op::BuiltinOperator_ABS, [](double x) { return std::fabs(x); }},
      {Op::BuiltinOperator_CEIL, [](double x) { return std::ceil(x); }},
      {Op::BuiltinOperator_COS, [](double x) { return std::cos(x); }},
      {Op::BuiltinOperator_ELU, [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
      {Op::BuiltinOperator_EXP, [](double x) { return std::exp(x); }},
      {Op::BuiltinOperator_FLOOR, [](double x) { return std::floor(x); }},
      {Op::BuiltinOperator_HARD_SWISH, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {Op::BuiltinOperator_LOGISTIC, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Op::BuiltinOperator_NEG, [](double x) { return -x; }},
      {Op::BuiltinOperator_RELU, [](double x) { return std::max(x, 0.0); }},
      {Op::BuiltinOperator_RELU6, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {Op::BuiltinOperator_RELU_N1_TO_1, [](double x) { return std::clamp(x, -1.0, 1.0); }},
      {Op::BuiltinOperator_ROUND, [](double x) { return std::nearbyint(x); }},
      {Op::BuiltinOperator_SIN, [](double x) { return std::sin(x); }},
      {Op::BuiltinOperator_TANH, [](double x) { return std::tanh(x); }}};
  Random random(22);
  const Shape shape{1, 3, 4, 5};
  for (const UnaryCase& c : cases) {
    for (const bool convolution : {false, true}) {
      SCOPED_TRACE(schema::EnumNameBuiltinOperator(c.op));
      Tensor x = random_tensor(random, shape);
      for (float& number : x.mutable_data<float>()) number *= 4;
      TfliteBuilder model;
      int in = model.input("x", dims_of(shape));
      if (convolution) in = through_convolution(model, in, shape, "copy");
      model.op(c.op, {in}, {model.output("y", dims_of(shape))});
      expect_output(model, {x},
                    nhwc(shape, [&](auto n, auto y, auto xx, auto ch) { return c.f(at(x, n, y, xx, ch)); }));
    }
  }
}

TEST(TfliteElementwise, RootsAndLogarithmsOfPositiveNumbers) {
  const UnaryCase cases[] = {{Op::BuiltinOperator_SQRT, [](double x) { return std::sqrt(x); }},
                             {Op::BuiltinOperator_LOG, [](double x) { return std::log(x); }},
                             {Op::BuiltinOperator_RSQRT, [](double x) { return 1 / std::sqrt(x); }},
                             {Op::BuiltinOperator_SQUARE, [](double x) { return x * x; }}};
  const Tensor x = Tensor::of<float>({4}, {0.25f, 1, 2, 9});
  for (const UnaryCase& c : cases) {
    TfliteBuilder model;
    const int in = model.input("x", {4});
    model.op(c.op, {in}, {model.output("y", {4})});
    Tensor expected(ElementType::kF32, {4});
    for (int64_t i = 0; i < 4; ++i) expected.set_number(i, c.f(x.number_at(i)));
    expect_output(model, {x}, expected);
  }
}

TEST(TfliteElementwise, LeakyReluAndPrelu) {
  Random random(23);
  const Shape shape{1, 3, 4, 5};
  for (const bool convolution : {false, true}) {
    const Tensor x = random_tensor(random, shape), slopes = random_tensor(random, {1, 1, 5});
    TfliteBuilder leaky, prelu;
    int in = leaky.input("x", dims_of(shape));
    if (convolution) in = through_convolution(leaky, in, shape, "copy");
    schema::LeakyReluOptionsT options;
    options.alpha = 0.3f;
    leaky.op(Op::BuiltinOperator_LEAKY_RELU, {in}, {leaky.output("y", dims_of(shape))}, options);
    expect_output(leaky, {x}, nhwc(shape, [&](auto n, auto y, auto xx, auto c) {
                    const double v = at(x, n, y, xx, c);
                    return v < 0 ? 0.3 * v : v;
                  }));
    in = prelu.input("x", dims_of(shape));
    if (convolution) in = through_convolution(prelu, in, shape, "copy");
    const int alpha = prelu.constant("slopes", slopes);
    prelu.op(Op::BuiltinOperator_PRELU, {in, alpha}, {prelu.output("y", dims_of(shape))});
    expect_output(prelu, {x}, nhwc(shape, [&](auto n, auto y, auto xx, auto c) {
                    const double v = at(x, n, y, xx, c);
                    return v < 0 ? slopes.number_at(c) * v : v;
                  }));
  }
}

TEST(TfliteElementwise, SoftmaxOverChannelsWithBeta) {
  Random random(24);
  const Shape shape{1, 2, 3, 5};
  for (const bool convolution : {false, true}) {
    const Tensor x = random_tensor(random, shape);
    TfliteBuilder model;
    int in = model.input("x", dims_of(shape));
    if (convolution) in = through_convolution(model, in, shape, "copy");
    schema::SoftmaxOptionsT options;
    options.beta = 0.5f;
    model.op(Op::BuiltinOperator_SOFTMAX, {in}, {model.output("y", dims_of(shape))}, options);
    expect_output(model, {x}, nhwc(shape, [&](auto n, auto y, auto xx, auto c) {
                    double sum = 0;
                    for (int64_t k = 0; k < 5; ++k) sum += std::exp(0.5 * at(x, n, y, xx, k));
                    return std::exp(0.5 * at(x, n, y, xx, c)) / sum;
                  }));
  }
}

TEST(TfliteElementwise, LogSoftmax) {
  const Tensor x = Tensor::of<float>({1, 3}, {1, 2, 4});
  TfliteBuilder model;
  const int in = model.input("x", {1, 3});
  model.op(Op::BuiltinOperator_LOG_SOFTMAX, {in}, {model.output("y", {1, 3})});
  const double sum = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(4.0));
  expect_output(model, {x}, Tensor::of<float>({1, 3}, {float(1 - sum), float(2 - sum), float(4 - sum)}));
}

struct ReductionCase {
  Op op;
  std::vector<int32_t> axes;
  bool keeps;
  Shape result;
};

TEST(TfliteElementwise, Reductions) {
  Random random(25);
  const Shape shape{1, 2, 3, 4};
  const ReductionCase cases[] = {{Op::BuiltinOperator_MEAN, {1, 2}, true, {1, 1, 1, 4}},
                                 {Op::BuiltinOperator_MEAN, {2, 1}, false, {1, 4}},
                                 {Op::BuiltinOperator_MEAN, {-1}, false, {1, 2, 3}},
                                 {Op::BuiltinOperator_SUM, {3}, true, {1, 2, 3, 1}},
                                 {Op::BuiltinOperator_SUM, {1, 2}, false, {1, 4}},
                                 {Op::BuiltinOperator_REDUCE_MAX, {1}, false, {1, 3, 4}},
                                 {Op::BuiltinOperator_REDUCE_MIN, {2, 3}, true, {1, 2, 1, 1}},
                                 {Op::BuiltinOperator_REDUCE_PROD, {3}, false, {1, 2, 3}}};
  for (const ReductionCase& c : cases) {
    for (const bool convolution : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << schema::EnumNameBuiltinOperator(c.op) << " to " << to_string(c.result));
      const Tensor x = random_tensor(random, shape);
      std::vector<bool> reduced(4, false);
      for (const int32_t axis : c.axes) reduced[size_t((axis + 4) % 4)] = true;
      std::vector<std::vector<double>> groups(size_t(c.result.element_count()));
      for (int64_t i = 0; i < x.size(); ++i) {
        int64_t to = 0;
        for (int a = 0; a < 4; ++a) {
          if (!reduced[size_t(a)]) to = to * shape[a] + i / shape.count(a + 1, 4) % shape[a];
        }
        groups[size_t(to)].push_back(x.number_at(i));
      }
      Tensor expected(ElementType::kF32, c.result);
      for (size_t g = 0; g < groups.size(); ++g) {
        double sum = 0, product = 1;
        for (const double v : groups[g]) sum += v, product *= v;
        const auto [low, high] = std::minmax_element(groups[g].begin(), groups[g].end());
        expected.set_number(int64_t(g), c.op == Op::BuiltinOperator_MEAN  ? sum / double(groups[g].size())
                                        : c.op == Op::BuiltinOperator_SUM ? sum
                                        : c.op == Op::BuiltinOperator_REDUCE_MAX ? *high
                                        : c.op == Op::BuiltinOperator_REDUCE_MIN ? *low
                                                                                 : product);
      }
      TfliteBuilder model;
      int in = model.input("x", dims_of(shape));
      if (convolution) in = through_convolution(model, in, shape, "copy");
      schema::ReducerOptionsT options;
      options.keep_dims = c.keeps;
      const int axes = model.integers("axes", c.axes);
      model.op(c.op, {in, axes}, {model.output("y", dims_of(c.result))}, options);
      expect_output(model, {x}, expected);
    }
  }
}

TEST(TfliteElementwise, ArgMaxCountsChannels) {
  const Tensor x = Tensor::of<float>({1, 1, 2, 3}, {0, 5, 1, 7, 2, 3});
  for (const ElementType type : {ElementType::kI32, ElementType::kI64}) {
    TfliteBuilder model;
    const int in = model.input("x", {1, 1, 2, 3});
    const int copy = through_convolution(model, in, x.shape(), "copy"), axis = model.scalar("axis", 3);
    model.op(Op::BuiltinOperator_ARG_MAX, {copy, axis}, {model.output("y", {1, 1, 2}, type)});
    expect_output(model, {x}, Tensor::of<int64_t>({1, 1, 2}, {1, 0}).cast(type));
  }
}

// TFLite casts what is stored; the scale plays no part.
TEST(TfliteElementwise, CastTakesTheIntegersOfAQuantisedTensor) {
  TfliteBuilder model;
  const int in = model.input("x", {1, 4}, ElementType::kI8);
  model.quantize(in, {0.5f}, {3});
  model.op(Op::BuiltinOperator_CAST, {in}, {model.output("y", {1, 4})});
  expect_output(model, {Tensor::of<int8_t>({1, 4}, {10, 20, -30, 4})},
                Tensor::of<float>({1, 4}, {10, 20, -30, 4}));
}

TEST(TfliteElementwise, CastGatherAndIntegerArithmetic) {
  TfliteBuilder model;
  const int in = model.input("x", {4}, ElementType::kI32);
  const int doubled = model.add("doubled", ElementType::kI32, {4});
  const int picked = model.add("picked", ElementType::kI32, {2}), indices = model.integers("indices", {3, 1});
  model.op(Op::BuiltinOperator_ADD, {in, in}, {doubled});
  model.op(Op::BuiltinOperator_GATHER, {doubled, indices}, {picked}, schema::GatherOptionsT());
  model.op(Op::BuiltinOperator_CAST, {picked}, {model.output("y", {2})});
  expect_output(model, {Tensor::of<int32_t>({4}, {1, 2, 3, 4})}, Tensor::of<float>({2}, {8, 4}));
}

}  // namespace
}  // namespace tilewright
