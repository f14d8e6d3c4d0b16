// Element types, down to one bit. Types below 8 bits are stored packed: lane k of a buffer occupies the bits
// [k*w, (k+1)*w) counted from its least significant bit, little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

enum class ElementType : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kI4,
  kI2,
  kI1,
  kU64,
  kU32,
  kU16,
  kU8,
  kU4,
  kU2,
  kU1,
  kBipolar,  // one bit: 0 means -1, 1 means +1
  kBool,     // one byte, 0 or 1
};

inline constexpr int kElementTypeCount = int(ElementType::kBool) + 1;

// Bits that one element takes in a buffer: 1, 2, 4, 8, 16, 32 or 64.
int bit_width(ElementType type);
// Elements lie without gaps; the last byte may not be full.
inline int64_t packed_bytes(int64_t elements, ElementType type) {
  return (elements * bit_width(type) + 7) / 8;
}
// "f32", "i8", "u4", "bipolar", "bool", ...
const char* name(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);

bool is_float(ElementType type);
// Integers of any width, bipolar included; not bool.
bool is_integer(ElementType type);
bool is_signed(ElementType type);
// The smallest and largest value of an integer type (u64 is clamped to the i64 range); bool is 0..1.
int64_t lowest(ElementType type);
int64_t highest(ElementType type);

// IEEE binary16 and bfloat16 as storage types; arithmetic is done in float.
struct Half {
  uint16_t bits = 0;
  bool operator==(const Half&) const = default;
};
struct BFloat16 {
  uint16_t bits = 0;
  bool operator==(const BFloat16&) const = default;
};
// Round to nearest, ties to even; overflow gives infinity, NaN stays NaN.
Half to_half(float value);
float to_float(Half value);
BFloat16 to_bfloat16(float value);
float to_float(BFloat16 value);

// The C++ type that stores one element (types of 8 bits and more).
template <typename T>
struct element_type_of;
template <>
struct element_type_of<float> {
  static constexpr ElementType value = ElementType::kF32;
};
template <>
struct element_type_of<double> {
  static constexpr ElementType value = ElementType::kF64;
};
template <>
struct element_type_of<Half> {
  static constexpr ElementType value = ElementType::kF16;
};
template <>
struct element_type_of<BFloat16> {
  static constexpr ElementType value = ElementType::kBF16;
};
template <>
struct element_type_of<int64_t> {
  static constexpr ElementType value = ElementType::kI64;
};
template <>
struct element_type_of<int32_t> {
  static constexpr ElementType value = ElementType::kI32;
};
template <>
struct element_type_of<int16_t> {
  static constexpr ElementType value = ElementType::kI16;
};
template <>
struct element_type_of<int8_t> {
  static constexpr ElementType value = ElementType::kI8;
};
template <>
struct element_type_of<uint64_t> {
  static constexpr ElementType value = ElementType::kU64;
};
template <>
struct element_type_of<uint32_t> {
  static constexpr ElementType value = ElementType::kU32;
};
template <>
struct element_type_of<uint16_t> {
  static constexpr ElementType value = ElementType::kU16;
};
template <>
struct element_type_of<uint8_t> {
  static constexpr ElementType value = ElementType::kU8;
};
template <>
struct element_type_of<bool> {
  static constexpr ElementType value = ElementType::kBool;
};

}  // namespace tilewright
