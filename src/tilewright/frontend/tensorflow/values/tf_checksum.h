// The checksum of TensorFlow's checkpoint files: CRC-32C (Castagnoli), "masked" so that data which contain
// checksums have checksums of good quality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewright {

// Of `bytes` after bytes with the checksum `before` (0: none).
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

// As files state it: rotated right by 15 bits, plus a constant.
uint32_t masked_checksum(uint32_t checksum);

}  // namespace tilewright
