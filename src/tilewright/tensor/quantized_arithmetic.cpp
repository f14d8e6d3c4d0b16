#include "tilewright/tensor/quantized_arithmetic.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {

Requantization encode_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0 || scale >= 0x1p31) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} is not a scale that can be encoded", scale),
                "scales are finite, positive and below 2^31");
  }
  int exponent = 0;
  const double mantissa =
      std::frexp(scale, &exponent);  // scale = mantissa * 2^exponent, mantissa in [0.5, 1)
  if (mantissa == 0.5 && exponent <= 1 && exponent >= -61) return {1, 1 - exponent};
  if (mantissa == 0.5 && exponent > 1) return {int32_t{1} << (exponent - 1), 0};
  int64_t multiplier = std::llrint(std::ldexp(mantissa, 31));
  int shift = 31 - exponent;
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    --shift;
  }
  while (shift > 62 && multiplier > 1) {
    multiplier = (multiplier + 1) / 2;
    --shift;
  }
  return {int32_t(multiplier), shift > 62 ? 62 : shift};
}

double decode_scale(const Requantization& r) { return std::ldexp(double(r.multiplier), -r.shift); }

}  // namespace tilewright
