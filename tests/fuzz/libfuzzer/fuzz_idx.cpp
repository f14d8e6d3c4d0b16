// idx arrays, plain and compressed.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/tensor/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    tilewright::parse_idx(bytes);
  } catch (const tilewright::Error&) {
  }
  return 0;
}
