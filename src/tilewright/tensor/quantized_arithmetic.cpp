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

Requantization encode_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0 || scale >= 0x1p31) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} is not a scale that can be encoded", scale),
                "scales are finite, positive and below 2^31");
  }
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

double decode_scale(const Requantization& r) { return std::ldexp(double(r.multiplier), -r.shift); }

}  // namespace tilewright
