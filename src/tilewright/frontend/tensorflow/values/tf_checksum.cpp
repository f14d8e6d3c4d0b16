// Eight bytes at a time: table k advances the checksum of a byte by k more zero bytes, so the tables' entries
// of eight bytes add up (exclusive or).
#include "tilewright/frontend/tensorflow/values/tf_checksum.h"

#include <array>
#include <bit>

namespace tilewright {
namespace {

constexpr int kBytesAtOnce = 8;
using ChecksumTables = std::array<std::array<uint32_t, 256>, kBytesAtOnce>;

constexpr ChecksumTables checksum_tables() {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  ChecksumTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kReversedPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (size_t k = 1; k < kBytesAtOnce; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t one_less = tables[k - 1][byte];
      tables[k][byte] = one_less >> 8 ^ tables[0][one_less & 0xff];
    }
  }
  return tables;
}

constexpr ChecksumTables kChecksumTables = checksum_tables();

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t rest = ~before;
  while (bytes.size() >= kBytesAtOnce) {
    uint32_t next = 0;
    for (size_t k = 0; k < kBytesAtOnce; ++k) {
      const uint32_t mixed = uint32_t(bytes[k]) ^ (k < 4 ? rest >> (8 * k) & 0xff : 0);
      next ^= kChecksumTables[kBytesAtOnce - 1 - k][mixed];
    }
    rest = next;
    bytes = bytes.subspan(kBytesAtOnce);
  }
  for (const std::byte byte : bytes) rest = rest >> 8 ^ kChecksumTables[0][(rest ^ uint32_t(byte)) & 0xff];
  return ~rest;
}

uint32_t masked_checksum(uint32_t checksum) { return std::rotr(checksum, 15) + 0xa282ead8; }

}  // namespace tilewright
