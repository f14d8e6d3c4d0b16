// One table row per type. Conversion to the 16-bit floats works on the bits of the f32: adding half of the
// last kept place, less one unit unless the lowest kept bit is set, makes truncation round to nearest, ties
// to even. Subnormal halves are counted in units of 2^-24.
#include "tilewright/tensor/element_type.h"

#include <bit>
#include <cmath>

namespace tilewright {
namespace {

struct Info {
  const char* name;
  int bits;
  bool is_float, is_integer, is_signed;
};

constexpr Info kInfo[kElementTypeCount] = {
    {"f32", 32, true, false, true},    {"f64", 64, true, false, true},  {"f16", 16, true, false, true},
    {"bf16", 16, true, false, true},   {"i64", 64, false, true, true},  {"i32", 32, false, true, true},
    {"i16", 16, false, true, true},    {"i8", 8, false, true, true},    {"i4", 4, false, true, true},
    {"i2", 2, false, true, true},      {"i1", 1, false, true, true},    {"u64", 64, false, true, false},
    {"u32", 32, false, true, false},   {"u16", 16, false, true, false}, {"u8", 8, false, true, false},
    {"u4", 4, false, true, false},     {"u2", 2, false, true, false},   {"u1", 1, false, true, false},
    {"bipolar", 1, false, true, true}, {"bool", 8, false, false, false}};

const Info& info(ElementType type) { return kInfo[int(type)]; }

}  // namespace

int bit_width(ElementType type) { return info(type).bits; }
const char* name(ElementType type) { return info(type).name; }
bool is_float(ElementType type) { return info(type).is_float; }
bool is_integer(ElementType type) { return info(type).is_integer; }
bool is_signed(ElementType type) { return info(type).is_signed; }

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (int i = 0; i < kElementTypeCount; ++i) {
    if (kInfo[i].name == name) return ElementType(i);
  }
  return std::nullopt;
}

int64_t lowest(ElementType type) {
  if (type == ElementType::kBipolar) return -1;
  return info(type).is_integer && info(type).is_signed ? INT64_MIN >> (64 - info(type).bits) : 0;
}

int64_t highest(ElementType type) {
  if (type == ElementType::kBipolar || type == ElementType::kBool) return 1;
  if (type == ElementType::kU64) return INT64_MAX;
  const int bits = info(type).bits - (info(type).is_signed ? 1 : 0);
  return bits == 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
}

Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return {uint16_t(sign | 0x7E00u)};
  if (magnitude >= 65520.0f) return {uint16_t(sign | 0x7C00u)};
  if (magnitude < 0x1.0p-14f) {  // subnormal: count in units of 2^-24
    return {uint16_t(sign | uint16_t(std::nearbyint(double(magnitude) * 0x1.0p24)))};
  }
  const uint32_t m = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = m + 0x0FFFu + ((m >> 13) & 1u);
  return {uint16_t(sign | uint16_t((rounded - 0x38000000u) >> 13))};
}

float to_float(Half value) {
  const uint32_t sign = uint32_t(value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1Fu;
  const uint32_t mantissa = value.bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = float(mantissa) * 0x1.0p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

BFloat16 to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {uint16_t((bits >> 16) | 0x40u)};
  return {uint16_t((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16)};
}

float to_float(BFloat16 value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }

}  // namespace tilewright
