// A scale becomes a normalised 31-bit multiplier and a shift, as in Jacob et al., "Quantization and Training
// of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 2.2. Exact powers of two up
// to 1 keep multiplier 1, for instruction sets that can only shift.
#include "tilewright/tensor/quantized_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tilewright/base/error.h"

namespace tilewright {

namespace {

void check_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0 || scale >= 0x1p31) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} is not a scale that can be encoded", scale),
                "scales are finite, positive and below 2^31");
  }
}

constexpr Rounding kRoundings[] = {Rounding::kOnce, Rounding::kFloat, Rounding::kTwice};

}  // namespace

const char* name(Rounding rounding) {
  switch (rounding) {
    case Rounding::kOnce:
      return "once";
    case Rounding::kFloat:
      return "float";
    case Rounding::kTwice:
      return "twice";
  }
  return "";
}

std::optional<Rounding> parse_rounding(std::string_view text) {
  for (const Rounding rounding : kRoundings) {
    if (text == name(rounding)) return rounding;
  }
  return std::nullopt;
}

Requantization encode_scale(double scale) {
  check_scale(scale);
  int exponent = 0;
  const double mantissa =
      std::frexp(scale, &exponent);  // scale = mantissa * 2^exponent, mantissa in [0.5, 1)
  if (mantissa == 0.5 && exponent >= -61) {
    return {int32_t{1} << std::max(0, exponent - 1), std::max(0, 1 - exponent)};
  }
  int shift = std::min(31 - exponent, 62);
  int64_t multiplier = std::llrint(std::ldexp(scale, shift));
  if (multiplier == int64_t{1} << 31 && shift > 0) {
    multiplier /= 2;
    --shift;
  }
  return {int32_t(std::clamp<int64_t>(multiplier, 1, INT32_MAX)), shift};
}

Requantization encode_scale_twice(double scale) {
  check_scale(scale);
  int exponent = 0;
  int64_t multiplier = std::llround(std::ldexp(std::frexp(scale, &exponent), 31));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++exponent;
  }
  if (exponent < -31) return {1, kTwice + 62};
  const int shift = 31 - exponent;
  if (shift < 0) return {INT32_MAX, 0};  // rounded up to 2^31
  return {int32_t(multiplier), shift > 31 ? kTwice + shift : shift};
}

Requantization encode_scale_reduced(double scale) {
  check_scale(scale);
  constexpr int32_t kMost = 0x7FFF;
  int exponent = 0;
  int64_t multiplier = std::llround(std::ldexp(std::frexp(scale, &exponent), 31));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++exponent;
  }
  if (exponent < -31) return {1, 62};
  const int32_t reduced = int32_t(std::min<int64_t>((multiplier + (1 << 15)) >> 16, kMost));
  // Scales of 2^15 and more: no shift is left, and the multiplier takes what it can.
  if (exponent > 15) return {int32_t(std::min<int64_t>(int64_t(reduced) << (exponent - 15), INT32_MAX)), 0};
  return {reduced, 15 - exponent};
}

double decode_scale(const Requantization& r) { return std::ldexp(double(r.multiplier), -(r.shift % kTwice)); }

}  // namespace tilewright
