// The quantised arithmetic of Tilewright, defined once (docs/reference/arithmetic.md). Reference kernels, the
// host engine, the overlay's simulators and the RTL all compute exactly this.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/tensor/element_type.h"

namespace tilewright {

// Whose bits the integer form of a quantised network has (docs/reference/arithmetic.md).
enum class Rounding : uint8_t {
  kOnce,   // the exact product, half up: everything that does not come from TFLite
  kFloat,  // TFLite's runtime with its default delegate: as a product of 32-bit floats, to nearest even
  kTwice,  // TFLite's built-in kernels and TFLite Micro: to the scale of the multiplier, then to the result's
};
// "once", "float", "twice".
const char* name(Rounding rounding);
std::optional<Rounding> parse_rounding(std::string_view name);

// How a real scale is applied to an integer accumulator: out = (acc * multiplier) / 2^shift, rounded.
//   power of two:  multiplier = 1, shift in 0..31          (all that the plain VTA instruction set has)
//   fixed point:   multiplier in 2^30..2^31-1, shift in 0..62
//   rounded twice: multiplier in 2^30..2^31-1, kTwice + a shift in 32..62
struct Requantization {
  int32_t multiplier = 1;  // > 0
  int32_t shift = 0;       // 0..62, or kTwice + 32..62
  bool operator==(const Requantization&) const = default;
  bool is_power_of_two() const { return (multiplier & (multiplier - 1)) == 0 && shift < 64; }
};
// Bit 6 of a shift: the product is rounded twice.
inline constexpr int32_t kTwice = 64;
constexpr bool is_shift(int64_t shift) {
  return (shift >= 0 && shift <= 62) || (shift >= kTwice + 32 && shift <= kTwice + 62);
}

// The encoding of a positive real scale with the smallest error: exact powers of two up to 2^0 get multiplier
// 1 (larger ones a power-of-two multiplier and shift 0), everything else 31 significant bits. Scales below
// 2^-32 or so lose bits and then round to multiplier 1, shift 62. Errors (invalid input): not finite, not
// positive, >= 2^31.
Requantization encode_scale(double scale);
// The encoding of TFLite's built-in kernels: 31 bits, rounded twice where the scale is below 1/2. A scale
// below 2^-31 gives 0 for every accumulator. Errors: as above.
Requantization encode_scale_twice(double scale);
// The encoding of TFLite's built-in kernels for 64-bit accumulators: 15 bits, rounded once, half up. A scale
// below 2^-32 gives 0 for every accumulator. Errors: as above.
Requantization encode_scale_reduced(double scale);
// The real number that `r` stands for.
double decode_scale(const Requantization& r);

// floor(value / 2^shift + 1/2): round half up, shift in 0..62. The rounding mode of the whole project,
// because hardware gets it with one added constant, which folds into a bias.
constexpr int64_t round_shift(int64_t value, int shift) {
  return shift == 0 ? value : (value + (int64_t{1} << (shift - 1))) >> shift;
}

// The same, but halves away from zero; shift in 1..62.
constexpr int64_t round_shift_away(int64_t value, int shift) {
  return (value + (int64_t{1} << (shift - 1)) - (value < 0)) >> shift;
}

// accumulator * multiplier / 2^shift, rounded to an integer: once, half up; or twice, first to a multiple of
// 2^31 (half up), then away from zero.
constexpr int64_t scaled(int32_t accumulator, Requantization r) {
  const int64_t product = int64_t(accumulator) * r.multiplier;
  if (r.shift < kTwice) return round_shift(product, r.shift);
  return round_shift_away(round_shift(product, 31), r.shift - kTwice - 31);
}

// The same for a 64-bit accumulator, rounded once; the product must stay below 2^62 in magnitude.
constexpr int64_t scaled_wide(int64_t accumulator, Requantization r) {
  return round_shift(accumulator * r.multiplier, r.shift);
}

constexpr int64_t clip(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// The last step of every integer operator: accumulator -> quantised output.
//   out = clip(scaled(acc) + zero_point, low, high)
// with the product in 64 bits. acc is an int32 accumulator that wraps modulo 2^32.
constexpr int32_t requantize(int32_t accumulator, Requantization r, int32_t zero_point, int32_t low,
                             int32_t high) {
  return int32_t(clip(scaled(accumulator, r) + zero_point, low, high));
}

// floor(sqrt(value)), value in 0..2^62.
constexpr int64_t integer_root(int64_t value) {
  int64_t root = 0;
  for (int64_t bit = int64_t{1} << 31; bit > 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

// 1 / sqrt(value) is factor / 2^(15 + exponent), factor in 2^15..2^16, its last bit rounded down.
struct InverseRoot {
  int64_t factor = 0;
  int exponent = 0;  // 1..32: the smallest with value < 4^exponent
};
// `value` from 1 on, of which the 31 or 32 highest bits count.
constexpr InverseRoot inverse_root(uint64_t value) {
  const int exponent = (std::bit_width(value) + 1) / 2;
  const auto highest = int64_t((value << (64 - 2 * exponent)) >> 32);
  return {integer_root((int64_t{1} << 62) / highest), exponent};
}

// Two's complement wrap to `bits` (1..32), sign-extended.
constexpr int32_t wrap(int64_t value, int bits) {
  return int32_t(int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits));
}

}  // namespace tilewright
