// The idx format of the MNIST family, plain or gzip-compressed: two zero bytes, a type byte, the rank, then
// big-endian sizes and elements.
#pragma once

#include <filesystem>
#include <span>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Errors (invalid input): not idx, an unknown element type, truncated, damaged gzip data.
Tensor read_idx(const std::filesystem::path& path);
// `bytes` may be gzip-compressed.
Tensor parse_idx(std::span<const std::byte> bytes);

}  // namespace tilewright
