#include "tilewright/flow/run/compare.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

constexpr int64_t kCount = 1000;

struct Pair {
  Tensor expected = Tensor(ElementType::kF32, {kCount});
  Tensor integers = Tensor(ElementType::kI8, {kCount});
};

// Values in [-amplitude, amplitude] and their integers for scale 1.
Pair quantised(double amplitude) {
  Pair pair;
  Random random(3);
  for (int64_t i = 0; i < kCount; ++i) {
    pair.expected.set_number(i, amplitude * (2 * random.uniform() - 1));
    pair.integers.set_number(i, pair.expected.number_at(i));
  }
  return pair;
}

DivergenceCause cause_of(const Pair& pair) {
  return compare_tensors(pair.expected, pair.integers, {"i", "f", 1.0, 0}, 20).cause;
}

TEST(CompareTensors, FindsTheCause) {
  EXPECT_EQ(cause_of(quantised(100)), DivergenceCause::kNone);
  EXPECT_EQ(cause_of(quantised(300)), DivergenceCause::kRange);
  EXPECT_EQ(cause_of(quantised(1.5)), DivergenceCause::kRounding);
  Pair shuffled = quantised(100);
  const std::vector<int64_t> integers = shuffled.integers.to_integers();
  for (int64_t i = 0; i < kCount; ++i) shuffled.integers.set_integer(i, integers[size_t(i * 7 % kCount)]);
  EXPECT_EQ(cause_of(shuffled), DivergenceCause::kLayout);
}

// Rounded alone, beyond the range, or wrong by more than its steps.
TEST(CompareTensors, SharesOfTheError) {
  const auto shares = [](const Pair& pair) {
    return compare_tensors(pair.expected, pair.integers, {"i", "f", 1.0, 0}, 20);
  };
  EXPECT_NEAR(shares(quantised(100)).step_share, 1, 0.1);
  EXPECT_EQ(shares(quantised(100)).range_share, 0);
  EXPECT_GT(shares(quantised(300)).range_share, 0.99);
  Pair carried = quantised(100);
  for (int64_t i = 0; i < kCount; ++i)
    carried.integers.set_integer(i, carried.integers.integer_at(i) + (i % 2 == 0 ? 5 : -5));
  EXPECT_LT(shares(carried).step_share, 0.02);
  EXPECT_EQ(shares(carried).range_share, 0);
}

TEST(CompareTensors, CountsErrorsInSteps) {
  const Tensor expected = Tensor::of<float>({2}, {1.0f, 3.0f});
  const Tensor integers = Tensor::of<int8_t>({2}, {2, 127});
  const TensorComparison result = compare_tensors(expected, integers, {"i", "f", 0.5, 124}, 20);
  EXPECT_DOUBLE_EQ(result.largest_error_steps, 124);
  EXPECT_DOUBLE_EQ(result.saturated_share, 0.5);
}

}  // namespace
}  // namespace tilewright
