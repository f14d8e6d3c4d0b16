// The contents of a memory of a generated design: words of any width, written for $readmemh.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::pipeline {

class MemoryImage {
 public:
  MemoryImage() = default;
  explicit MemoryImage(int width_bits) : width_bits_(width_bits) {}

  int width_bits() const { return width_bits_; }
  int64_t words() const { return width_bits_ == 0 ? 0 : int64_t(bytes_.size()) / word_bytes(); }
  int64_t word_bytes() const { return (width_bits_ + 7) / 8; }
  // Little-endian, each word in word_bytes().
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

  // A new word of zeros; returns its index.
  int64_t add_word();
  // Bits [low, low + width) of a word, width <= 64. A value that does not fit, signed or unsigned, is an
  // internal error.
  void set(int64_t word, int64_t low, int width, int64_t value);
  uint64_t get(int64_t word, int64_t low, int width) const;
  int64_t get_signed(int64_t word, int64_t low, int width) const;

  // One line of hexadecimal digits per word, the highest first.
  std::string to_hex() const;

 private:
  int width_bits_ = 0;
  std::vector<uint8_t> bytes_;
};

// By file name, as components' parameters name them.
using MemoryImages = std::map<std::string, MemoryImage>;

// Writes the fields of a task table from the lowest bit up.
class RowWriter {
 public:
  RowWriter(MemoryImage& image) : image_(image), word_(image.add_word()) {}
  RowWriter& field(int width, int64_t value) {
    image_.set(word_, low_, width, value);
    low_ += width;
    return *this;
  }

 private:
  MemoryImage& image_;
  int64_t word_, low_ = 0;
};
class RowReader {
 public:
  RowReader(const MemoryImage& image, int64_t word) : image_(image), word_(word) {}
  uint64_t field(int width) { return image_.get(word_, (low_ += width) - width, width); }
  int64_t signed_field(int width) { return image_.get_signed(word_, (low_ += width) - width, width); }

 private:
  const MemoryImage& image_;
  int64_t word_, low_ = 0;
};

}  // namespace tilewright::pipeline
