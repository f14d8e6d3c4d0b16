// NumPy arrays.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    tilewright::format_npy(tilewright::parse_npy(bytes));
  } catch (const tilewright::Error&) {
  }
  return 0;
}
