// Simulated memory that costs nothing until it is touched: programs often have little data in a large memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright::overlay {

class ZeroedMemory {
 public:
  // Errors (invalid input): this machine cannot provide that much.
  explicit ZeroedMemory(uint64_t bytes)
      : data_(static_cast<std::byte*>(std::calloc(std::max<uint64_t>(bytes, 1), 1))), bytes_(bytes) {
    if (data_ == nullptr) {
      throw Error(ErrorKind::kInvalidInput,
                  "memory_bytes: this machine cannot provide " + std::to_string(bytes) + " bytes",
                  "make memory_bytes smaller");
    }
  }
  std::span<std::byte> span() { return {data_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  uint64_t bytes_;
};

}  // namespace tilewright::overlay
