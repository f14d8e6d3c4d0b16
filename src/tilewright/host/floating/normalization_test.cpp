#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::distance;
using testing::f32;
using testing::random_tensor;
using testing::run_op;

TEST(Normalization, SoftmaxAlongAnyAxis) {
  const Tensor x = f32({2, 2}, {0, 1000, 0, 1000});
  EXPECT_EQ(run_op("Softmax", {x})[0].to_floats(), (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(run_op("Softmax", {x}, {{"axis", int64_t{0}}})[0].to_floats(),
            (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}));
  const Tensor y = run_op("LogSoftmax", {f32({1, 3}, {1, 2, 3})})[0];
  EXPECT_LE(distance(y, f32({1, 3}, {-2.4076059f, -1.4076059f, -0.4076059f})), 1e-6);
  EXPECT_LE(distance(run_op("LogSoftmax", {x})[0], f32({2, 2}, {-1000, 0, -1000, 0})), 1e-6);
  EXPECT_THROW(run_op("Softmax", {x}, {{"axis", int64_t{2}}}), Error);
}

TEST(Normalization, BatchNormalization) {
  const Tensor x = f32({1, 2, 2}, {1, 2, 3, 4});
  const Tensor scale = f32({2}, {1, 2}), bias = f32({2}, {0, 1}), mean = f32({2}, {1, 3}),
               var = f32({2}, {4, 1});
  const Tensor y = run_op("BatchNormalization", {x, scale, bias, mean, var}, {{"epsilon", 0.0f}})[0];
  EXPECT_LE(distance(y, f32({1, 2, 2}, {0, 0.5f, 1, 3})), 1e-6);
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("BatchNormalization", {x, scale, bias, mean, f32({1}, {1})});
               }),
               "the variance is f32[1], which does not fit data f32[1x2x2]");
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("BatchNormalization", {x, scale, bias, mean, var}, {{"training_mode", int64_t{1}}});
               }),
               "training mode is not supported");
}

TEST(Normalization, InstanceAndLayer) {
  const Tensor x = f32({1, 2, 4}, {-1, 1, -1, 1, 2, 2, 4, 4});
  const Tensor y =
      run_op("InstanceNormalization", {x, f32({2}, {1, 3}), f32({2}, {0, 10})}, {{"epsilon", 0.0f}})[0];
  EXPECT_LE(distance(y, f32({1, 2, 4}, {-1, 1, -1, 1, 7, 7, 13, 13})), 1e-5);
  const auto outputs = run_op("LayerNormalization", {x, f32({4}, {1, 1, 1, 2}), f32({4}, {0, 0, 0, 5})},
                              {{"epsilon", 0.0f}}, 3);
  EXPECT_LE(distance(outputs[0], f32({1, 2, 4}, {-1, 1, -1, 7, -1, -1, 1, 7})), 1e-5);
  EXPECT_EQ(outputs[1].shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(outputs[1].to_floats(), (std::vector<float>{0, 3}));
  EXPECT_EQ(outputs[2].to_floats(), (std::vector<float>{1, 1}));
}

Tensor random_parameter(Random& random, const Shape& shape) {
  std::vector<int64_t> dims(shape.begin() + random.between(0, shape.rank()), shape.end());
  for (int64_t& dim : dims) dim = random.chance(0.3) ? 1 : dim;
  return random_tensor(random, ElementType::kF32, Shape(dims));
}

// Scale and bias of any shape that broadcasts are those repeated to the normalised axes.
TEST(NormalizationClass, LayerParametersBroadcast) {
  Random random(test_seed());
  const int64_t cases = test_cases(200);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    std::vector<int64_t> dims;
    for (int64_t rank = random.between(1, 4); rank > 0; --rank) dims.push_back(random.between(1, 4));
    const int64_t axis = random.between(0, int64_t(dims.size()) - 1);
    const Shape normalized({dims.begin() + axis, dims.end()});
    const Tensor x = random_tensor(random, ElementType::kF32, Shape(dims));
    const Tensor scale = random_parameter(random, normalized), bias = random_parameter(random, normalized);
    const auto repeated = [&](const Tensor& parameter) {
      const Tensor shape(Shape{normalized.rank()}, std::span<const int64_t>(normalized.dims()));
      return run_op("Expand", {parameter, shape})[0];
    };
    const Tensor found = run_op("LayerNormalization", {x, scale, bias}, {{"axis", axis}})[0];
    const Tensor wanted =
        run_op("LayerNormalization", {x, repeated(scale), repeated(bias)}, {{"axis", axis}})[0];
    ASSERT_EQ(distance(found, wanted), 0) << "seed " << test_seed() << ", case " << i;
  }
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("LayerNormalization", {f32({1, 4}, {1, 2, 3, 4}), f32({2}, {1, 2})});
               }),
               "the scale is f32[2], which does not fit data f32[1x4]");
}

// By the root of the mean square of each row, in plain loops; the scale of any shape that broadcasts.
TEST(NormalizationClass, RootMeanSquare) {
  Random random(test_seed());
  const int64_t cases = test_cases(100);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    std::vector<int64_t> dims;
    for (int64_t rank = random.between(1, 4); rank > 0; --rank) dims.push_back(random.between(1, 5));
    const int64_t axis = random.between(0, int64_t(dims.size()) - 1);
    const Shape normalized({dims.begin() + axis, dims.end()});
    const ElementType type = random.chance(0.2) ? ElementType::kF64 : ElementType::kF32;
    const Tensor x = random_tensor(random, type, Shape(dims));
    const Tensor one = random_parameter(random, normalized),
                 shape = Tensor(Shape{normalized.rank()}, std::span<const int64_t>(normalized.dims()));
    Tensor scale(type, one.shape());
    for (int64_t k = 0; k < one.size(); ++k) scale.set_number(k, one.number_at(k));
    const Tensor all = run_op("Expand", {scale, shape})[0];
    const float epsilon = random.chance(0.5) ? 1e-5f : 0.5f;
    HostOptions options;
    options.threads = int(random.between(1, 3));
    const Tensor found =
        run_op("RMSNormalization", {x, scale},
               {{"axis", axis - int64_t(random.chance(0.5) ? dims.size() : 0)}, {"epsilon", epsilon}}, 1, "",
               options)[0];
    const int64_t size = normalized.element_count();
    for (int64_t row = 0; row < x.size() / size; ++row) {
      double squares = 0;
      for (int64_t k = 0; k < size; ++k) squares += std::pow(x.number_at(row * size + k), 2);
      const double root = std::sqrt(squares / double(size) + double(epsilon));
      for (int64_t k = 0; k < size; ++k) {
        ASSERT_NEAR(found.number_at(row * size + k), x.number_at(row * size + k) / root * all.number_at(k),
                    2e-7)
            << "seed " << test_seed() << ", case " << i;
      }
    }
  }
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("RMSNormalization", {f32({1, 4}, {1, 2, 3, 4}), f32({2}, {1, 2})});
               }),
               "the scale is f32[2], which does not fit data f32[1x4]");
}

// Of random shapes against the definition, in double.
TEST(Normalization, RotaryEmbedding) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(60); ++i) {
    std::vector<int64_t> dims;
    for (int64_t axes = random.between(0, 2); axes > 0; --axes) dims.push_back(random.between(1, 3));
    const int64_t tokens = random.between(1, 7), half = random.between(1, 9);
    dims.insert(dims.end(), {tokens, 2 * half});
    const ElementType type = random.chance(0.2) ? ElementType::kF64 : ElementType::kF32;
    const Tensor x = random_tensor(random, type, Shape(dims)),
                 cosines = random_tensor(random, type, {tokens, half}),
                 sines = random_tensor(random, type, {tokens, half});
    HostOptions options;
    options.threads = int(random.between(1, 3));
    const Tensor y = run_op("RotaryEmbedding", {x, cosines, sines}, {}, 1, "", options)[0];
    for (int64_t row = 0; row < x.size() / (2 * half); ++row) {
      for (int64_t k = 0; k < half; ++k) {
        const double a = x.number_at(row * 2 * half + k), b = x.number_at(row * 2 * half + half + k);
        const double c = cosines.number_at(row % tokens * half + k),
                     s = sines.number_at(row % tokens * half + k);
        ASSERT_NEAR(y.number_at(row * 2 * half + k), a * c - b * s, 3e-7);
        ASSERT_NEAR(y.number_at(row * 2 * half + half + k), a * s + b * c, 3e-7);
      }
    }
  }
  const Tensor angles = f32({1, 2}, {1, 1});
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("RotaryEmbedding", {f32({2, 2}, {1, 2, 3, 4}), angles, angles});
               }),
               "cosines f32[1x2] and sines f32[1x2] do not fit data f32[2x2]");
}

TEST(Normalization, LocalResponse) {
  const Tensor x = f32({1, 3, 1}, {1, 2, 3});
  // Neighbourhoods of size 2 reach one channel up: sums of squares 5, 13, 9.
  const Attributes attributes = {{"size", int64_t{2}}, {"alpha", 2.0f}, {"beta", 0.5f}, {"bias", 4.0f}};
  const Tensor y = run_op("LRN", {x}, attributes)[0];
  EXPECT_LE(distance(y, f32({1, 3, 1}, {1 / 3.0f, 2 / std::sqrt(17.0f), 3 / std::sqrt(13.0f)})), 1e-6);
  const Tensor usual = run_op("LRN", {x}, {{"size", int64_t{1}}, {"alpha", 1.0f}})[0];
  EXPECT_NEAR(usual.number_at(2), 3 / std::pow(10.0, 0.75), 1e-6);
  EXPECT_THROW(run_op("LRN", {x}, {{"size", int64_t{0}}}), Error);
}

}  // namespace
}  // namespace tilewright
