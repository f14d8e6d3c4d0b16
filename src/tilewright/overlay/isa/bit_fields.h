// Bit fields inside an array of 64-bit words, placed by the C rule for fields of 64-bit type: in order of
// declaration, each directly after the one before; a field that does not fit in the rest of the current word
// starts at bit 0 of the next.
#pragma once

#include <cstdint>

namespace tilewright::overlay {

struct BitField {
  uint8_t word = 0, shift = 0, width = 0;  // width 0: the encoding does not have this field

  // Fields are at most 32 bits wide.
  constexpr uint64_t mask() const { return (uint64_t{1} << width) - 1; }
  constexpr uint64_t get(const uint64_t* words) const { return (words[word] >> shift) & mask(); }
  // Two's complement.
  constexpr int64_t get_signed(const uint64_t* words) const {
    return width == 0 ? 0 : int64_t(get(words) << (64 - width)) >> (64 - width);
  }
  // Ors `value` in; the caller has checked that it fits.
  constexpr void put(uint64_t* words, uint64_t value) const { words[word] |= (value & mask()) << shift; }
  constexpr bool operator==(const BitField&) const = default;
};

// Hands out positions in order of declaration. Unit size below 64 (the 32-bit plain micro-op) makes every
// field stay inside a unit of that many bits.
class BitLayout {
 public:
  explicit constexpr BitLayout(int unit_bits = 64) : unit_bits_(unit_bits) {}
  constexpr BitField add(int width) {
    if (used_ + width > unit_bits_) {
      ++unit_;
      used_ = 0;
    }
    const int bit = unit_ * unit_bits_ + used_;
    used_ += width;
    return {uint8_t(bit / 64), uint8_t(bit % 64), uint8_t(width)};
  }
  // Units touched so far.
  constexpr int units() const { return unit_ + 1; }

 private:
  int unit_bits_;
  int unit_ = 0;
  int used_ = 0;
};

}  // namespace tilewright::overlay
