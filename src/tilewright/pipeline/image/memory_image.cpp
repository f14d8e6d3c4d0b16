// Words are byte-aligned in the store, so a field of up to 64 bits lies in at most nine bytes.
#include "tilewright/pipeline/image/memory_image.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {

int64_t MemoryImage::add_word() {
  bytes_.resize(bytes_.size() + size_t(word_bytes()));
  return words() - 1;
}

void MemoryImage::set(int64_t word, int64_t low, int width, int64_t value) {
  TILEWRIGHT_CHECK(width >= 1 && width <= 64 && low >= 0 && low + width <= width_bits_,
                   "a field outside of the word");
  TILEWRIGHT_CHECK(word >= 0 && word < words(), "no such word");
  if (width < 64) {
    const int64_t high = value >> (width - 1);  // 0 and 1: fits unsigned; -1: fits signed
    TILEWRIGHT_CHECK(high >= -1 && high <= 1, "a value that does not fit its field");
  }
  uint8_t* const bytes = bytes_.data() + word * word_bytes();
  if (low % 8 == 0 && width % 8 == 0) {
    for (int byte = 0; byte < width / 8; ++byte) bytes[low / 8 + byte] = uint8_t(value >> (8 * byte));
    return;
  }
  for (int bit = 0; bit < width; ++bit) {
    const int64_t at = low + bit;
    const uint8_t mask = uint8_t(1u << (at % 8));
    if (((uint64_t(value) >> bit) & 1) != 0) {
      bytes[at / 8] |= mask;
    } else {
      bytes[at / 8] &= uint8_t(~mask);
    }
  }
}

uint64_t MemoryImage::get(int64_t word, int64_t low, int width) const {
  TILEWRIGHT_CHECK(width >= 1 && width <= 64 && low >= 0 && low + width <= width_bits_,
                   "a field outside of the word");
  TILEWRIGHT_CHECK(word >= 0 && word < words(), "no such word");
  const uint8_t* const bytes = bytes_.data() + word * word_bytes();
  uint64_t value = 0;
  for (int bit = 0; bit < width; ++bit) {
    const int64_t at = low + bit;
    value |= uint64_t((bytes[at / 8] >> (at % 8)) & 1) << bit;
  }
  return value;
}

int64_t MemoryImage::get_signed(int64_t word, int64_t low, int width) const {
  const uint64_t value = get(word, low, width);
  return int64_t(value << (64 - width)) >> (64 - width);
}

std::string MemoryImage::to_hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  const int64_t digits = (width_bits_ + 3) / 4;
  std::string text;
  text.reserve(size_t(words() * (digits + 1)));
  for (int64_t word = 0; word < words(); ++word) {
    for (int64_t digit = digits - 1; digit >= 0; --digit) {
      const uint8_t byte = bytes_[size_t(word * word_bytes() + digit / 2)];
      text += kDigits[digit % 2 == 0 ? byte & 15 : byte >> 4];
    }
    text += '\n';
  }
  return text;
}

}  // namespace tilewright::pipeline
