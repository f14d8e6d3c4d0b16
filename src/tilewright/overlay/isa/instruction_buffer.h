// A growing array of instruction words whose growth copies nothing: large blocks of the C heap are re-mapped
// by the kernel, and the bytes are handed over as they are. A vector would touch every page twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace tilewright::overlay {

class InstructionBuffer {
 public:
  // `count` uninitialised words after the others; pointers into the buffer become invalid.
  uint64_t* append(size_t count) {
    if (size_ + count > capacity_) [[unlikely]] {
      grow(count);
    }
    uint64_t* words = words_.get() + size_;
    size_ += count;
    return words;
  }
  uint64_t* at(size_t word) { return words_.get() + word; }
  size_t size_words() const { return size_; }

  // As bytes, in the order of a little-endian memory.
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.get()); }
  size_t size() const { return size_ * sizeof(uint64_t); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size(); }

 private:
  struct Free {
    void operator()(uint64_t* words) const { std::free(words); }
  };

  void grow(size_t count) {
    const size_t capacity = (size_ + count) * 2 + 1024;
    void* words = std::realloc(words_.get(), capacity * sizeof(uint64_t));
    if (words == nullptr) throw std::bad_alloc();
    static_cast<void>(words_.release());
    words_.reset(static_cast<uint64_t*>(words));
    capacity_ = capacity;
  }

  std::unique_ptr<uint64_t[], Free> words_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace tilewright::overlay
