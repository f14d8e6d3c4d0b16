#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::distance;
using testing::f32;
using testing::run_op;

TEST(Matrix, MatMulByHand) {
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 1}, {1, 10, 100});
  EXPECT_EQ(run_op("MatMul", {a, b})[0].to_floats(), (std::vector<float>{321, 654}));
  const Tensor v = f32({3}, {1, 0, 1}), w = f32({2}, {1, -1});
  EXPECT_EQ(run_op("MatMul", {a, v})[0].shape(), (Shape{2}));
  EXPECT_EQ(run_op("MatMul", {a, v})[0].to_floats(), (std::vector<float>{4, 10}));
  EXPECT_EQ(run_op("MatMul", {w, a})[0].to_floats(), (std::vector<float>{-3, -3, -3}));
  const Tensor dot = run_op("MatMul", {v, v})[0];
  EXPECT_EQ(dot.shape(), Shape{});
  EXPECT_EQ(dot.number_at(0), 2);
  const Tensor i = Tensor::of<int32_t>({2, 2}, {1, -2, 3, 4});
  EXPECT_EQ(run_op("MatMul", {i, i})[0].to_integers(), (std::vector<int64_t>{-5, -10, 15, 10}));
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("MatMul", {a, a});
               }),
               "matrices 2x3 and 2x3 cannot be multiplied");
}

TEST(Matrix, EmptyProducts) {
  const Tensor a(ElementType::kF32, Shape{2, 0}), b(ElementType::kF32, Shape{0, 3});
  EXPECT_EQ(run_op("MatMul", {a, b})[0].to_floats(), (std::vector<float>(6, 0.0f)));
  EXPECT_EQ(run_op("MatMul", {b, Tensor(ElementType::kF32, Shape{3, 4})})[0].shape(), (Shape{0, 4}));
}

// f32 (oneDNN) against f64 (plain loops) for random batches that broadcast.
TEST(Matrix, RandomProductsMatchPlainLoops) {
  const uint64_t seed = 31;
  Random random(seed);
  for (int round = 0; round < 120; ++round) {
    std::vector<int64_t> a_dims, b_dims;
    for (int64_t i = random.between(0, 3); i > 0; --i) {
      const int64_t size = random.between(1, 3);
      a_dims.push_back(random.chance(0.3) ? 1 : size);
      b_dims.push_back(random.chance(0.3) ? 1 : size);
    }
    b_dims.erase(b_dims.begin(), b_dims.begin() + random.between(0, int64_t(b_dims.size())));
    const int64_t m = random.between(1, 20), k = random.between(1, 40), n = random.between(1, 20);
    a_dims.insert(a_dims.end(), {m, k});
    b_dims.insert(b_dims.end(), {k, n});
    const Tensor a = testing::random_tensor(random, ElementType::kF32, Shape(a_dims));
    const Tensor b = testing::random_tensor(random, ElementType::kF32, Shape(b_dims));
    SCOPED_TRACE(
        fmt::format("seed {} round {}: {} by {}", seed, round, to_string(a.shape()), to_string(b.shape())));
    const Tensor exact = run_op("MatMul", {a.cast(ElementType::kF64), b.cast(ElementType::kF64)})[0];
    ASSERT_LE(distance(run_op("MatMul", {a, b})[0], exact), 1e-5);
  }
}

TEST(Matrix, GemmWithEveryAddend) {
  Random random(32);
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const auto& [alpha, beta] : {std::pair(1.0f, 1.0f), std::pair(0.5f, 2.0f)}) {
        const Tensor a =
            testing::random_tensor(random, ElementType::kF32, trans_a ? Shape{5, 3} : Shape{3, 5});
        const Tensor b =
            testing::random_tensor(random, ElementType::kF32, trans_b ? Shape{4, 5} : Shape{5, 4});
        for (const Shape& shape : {Shape{4}, Shape{1, 4}, Shape{3, 1}, Shape{3, 4}, Shape{}, Shape{1}}) {
          const Tensor c = testing::random_tensor(random, ElementType::kF32, shape);
          const Tensor y = run_op("Gemm", {a, b, c},
                                  {{"transA", int64_t{trans_a}},
                                   {"transB", int64_t{trans_b}},
                                   {"alpha", alpha},
                                   {"beta", beta}})[0];
          ASSERT_EQ(y.shape(), (Shape{3, 4}));
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < 4; ++j) {
              double sum = 0;
              for (int64_t k = 0; k < 5; ++k) {
                sum += a.number_at(trans_a ? k * 3 + i : i * 5 + k) *
                       b.number_at(trans_b ? j * 5 + k : k * 4 + j);
              }
              const int64_t row = shape.rank() == 2 && shape[0] == 3 ? i : 0;
              const int64_t columns = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
              const double addend = c.number_at(row * columns + (columns == 4 ? j : 0));
              ASSERT_NEAR(y.number_at(i * 4 + j), double(alpha) * sum + double(beta) * addend, 1e-5)
                  << to_string(shape);
            }
          }
        }
      }
    }
  }
}

TEST(Matrix, GemmRejectsWhatDoesNotFit) {
  const Tensor a(ElementType::kF32, Shape{2, 3});
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Gemm", {a, Tensor(ElementType::kF32, Shape{3})});
               }),
               "inputs 2x3 and 3 are not matrices");
  EXPECT_PRED2(
      contains, error_text([&] {
        run_op("Gemm", {a, Tensor(ElementType::kF32, Shape{3, 4}), Tensor(ElementType::kF32, Shape{3})});
      }),
      "input 2, f32[3], does not broadcast to the result f32[2x4]");
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Gemm", {a, Tensor(ElementType::kI8, Shape{3, 4})});
               }),
               "matrices of f32 and i8 cannot be multiplied");
}

TEST(Matrix, HalfComputesInFloat) {
  const Tensor a = f32({1, 2}, {1024, 1}).cast(ElementType::kF16),
               b = f32({2, 1}, {1, 0.25f}).cast(ElementType::kF16);
  EXPECT_EQ(run_op("MatMul", {a, b})[0].type(), ElementType::kF16);
  EXPECT_EQ(run_op("MatMul", {a, b})[0].number_at(0), 1024);
}

}  // namespace
}  // namespace tilewright
