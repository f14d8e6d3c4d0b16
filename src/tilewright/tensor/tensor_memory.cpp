// Best fit: the smallest kept block that is large enough, unless it is over four times as large. In a
// network, whose runs ask for the same sizes in the same order, the second run allocates nothing.
#include "tilewright/tensor/tensor_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tilewright {
namespace {

constexpr size_t kAlignment = 64;      // a cache line, and the widest vector
constexpr size_t kPooledBytes = 1024;  // below, malloc is as fast
constexpr size_t kLargestExcess = 4;

thread_local std::shared_ptr<TensorPool> current_pool;

}  // namespace

TensorPool::~TensorPool() {
  for (const auto& [bytes, memory] : free_) std::free(memory);
}

std::shared_ptr<std::byte[]> TensorPool::take(size_t bytes) {
  size_t size = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  std::byte* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto fitting = free_.lower_bound(size);
    if (fitting != free_.end() && fitting->first <= size * kLargestExcess) {
      std::tie(size, memory) = *fitting;
      free_.erase(fitting);
    }
  }
  if (memory == nullptr) memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (memory == nullptr) return nullptr;
  return {memory, [pool = weak_from_this(), size](std::byte* p) {
            if (const std::shared_ptr<TensorPool> alive = pool.lock()) {
              alive->give_back(p, size);
            } else {
              std::free(p);
            }
          }};
}

size_t TensorPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [bytes, memory] : free_) sum += bytes;
  return sum;
}

void TensorPool::give_back(std::byte* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  free_.emplace(bytes, memory);
}

TensorPoolScope::TensorPoolScope(std::shared_ptr<TensorPool> pool)
    : previous_(std::exchange(current_pool, std::move(pool))) {}
TensorPoolScope::~TensorPoolScope() { current_pool = std::move(previous_); }

std::shared_ptr<std::byte[]> tensor_memory(size_t bytes, bool zero_filled) {
  if (current_pool != nullptr && bytes >= kPooledBytes) {
    std::shared_ptr<std::byte[]> memory = current_pool->take(bytes);
    if (zero_filled && memory != nullptr) std::memset(memory.get(), 0, bytes);
    return memory;
  }
  // calloc: large zero-filled tensors cost no page until they are touched.
  const size_t size = std::max<size_t>(bytes, 1);
  auto* memory = static_cast<std::byte*>(
      zero_filled ? std::calloc(size, 1)
      : size < kPooledBytes
          ? std::malloc(size)
          : std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment));
  if (memory == nullptr) return nullptr;
  return {memory, [](std::byte* p) { std::free(p); }};
}

}  // namespace tilewright
