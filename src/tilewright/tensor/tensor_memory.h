// Where tensors take their memory from. A program that makes the same tensors again and again, as each run of
// a network does, would otherwise have every large one mapped, zeroed and unmapped by the kernel of the
// operating system.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace tilewright {

// Memory of tensors that have ended, kept for new ones. Never holds more than was in use at one time by
// tensors of the same size class; freed with the pool. Safe to use from several threads.
class TensorPool : public std::enable_shared_from_this<TensorPool> {
 public:
  TensorPool() = default;
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;
  ~TensorPool();

  // At least `bytes`, not cleared; nullptr when there is no memory. It returns to the pool, or to the system
  // if the pool has ended, with the last copy of the pointer.
  std::shared_ptr<std::byte[]> take(size_t bytes);
  size_t kept_bytes() const;  // not in use at the moment

 private:
  void give_back(std::byte* memory, size_t bytes);

  mutable std::mutex mutex_;
  std::multimap<size_t, std::byte*> free_;  // by size in bytes
};

// While it lives, tensors that the calling thread makes take their memory from the pool.
class TensorPoolScope {
 public:
  explicit TensorPoolScope(std::shared_ptr<TensorPool> pool);
  ~TensorPoolScope();
  TensorPoolScope(const TensorPoolScope&) = delete;
  TensorPoolScope& operator=(const TensorPoolScope&) = delete;

 private:
  std::shared_ptr<TensorPool> previous_;
};

// Of the calling thread's pool, if there is one and the tensor is not small; aligned to 64 bytes where it is
// large. nullptr when there is no memory.
std::shared_ptr<std::byte[]> tensor_memory(size_t bytes, bool zero_filled);

}  // namespace tilewright
