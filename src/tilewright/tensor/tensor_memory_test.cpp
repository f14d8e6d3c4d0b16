#include "tilewright/tensor/tensor_memory.h"

#include <gtest/gtest.h>

#include <thread>

#include "tilewright/tensor/tensor.h"

namespace tilewright {
namespace {

constexpr int64_t kMany = 100000;

TEST(TensorMemory, IsUsedAgainAndCleared) {
  const auto pool = std::make_shared<TensorPool>();
  const TensorPoolScope scope(pool);
  const std::byte* first = nullptr;
  {
    Tensor tensor(ElementType::kF32, Shape{kMany});
    std::ranges::fill(tensor.mutable_data<float>(), 7.0f);
    first = tensor.bytes().data();
    EXPECT_EQ(pool->kept_bytes(), 0u);
  }
  EXPECT_GE(pool->kept_bytes(), size_t(4 * kMany));
  const Tensor again(ElementType::kF32, Shape{kMany - 1000});
  EXPECT_EQ(again.bytes().data(), first);
  EXPECT_EQ(pool->kept_bytes(), 0u);
  for (const float value : again.data<float>()) ASSERT_EQ(value, 0);
  // Far too large for a tensor of a hundredth.
  { const Tensor other(ElementType::kF32, Shape{kMany}); }
  const size_t kept = pool->kept_bytes();
  const Tensor little = Tensor::uninitialized(ElementType::kF32, Shape{kMany / 100});
  EXPECT_EQ(pool->kept_bytes(), kept);
}

TEST(TensorMemory, TensorsOutliveTheirPool) {
  Tensor tensor;
  {
    const TensorPoolScope scope(std::make_shared<TensorPool>());
    tensor = Tensor(ElementType::kI32, Shape{kMany});
  }
  tensor.mutable_data<int32_t>()[kMany - 1] = 5;
  EXPECT_EQ(tensor.integer_at(kMany - 1), 5);
}

TEST(TensorMemory, ReturnsFromAnotherThread) {
  const auto pool = std::make_shared<TensorPool>();
  const TensorPoolScope scope(pool);
  Tensor tensor(ElementType::kF32, Shape{kMany});
  std::jthread([moved = std::move(tensor)]() mutable { moved = Tensor(); }).join();
  tensor = Tensor();
  EXPECT_GE(pool->kept_bytes(), size_t(4 * kMany));
}

TEST(TensorMemory, ScopesNest) {
  const auto outer = std::make_shared<TensorPool>(), inner = std::make_shared<TensorPool>();
  const TensorPoolScope scope(outer);
  {
    const TensorPoolScope nested(inner);
    const Tensor tensor(ElementType::kF32, Shape{kMany});
  }
  EXPECT_GT(inner->kept_bytes(), 0u);
  { const Tensor tensor(ElementType::kF32, Shape{kMany}); }
  EXPECT_GT(outer->kept_bytes(), 0u);
}

}  // namespace
}  // namespace tilewright
