// The two multipliers of an addition share one shift: the largest that keeps the bigger one below 2^22, or,
// for two powers of two, the smallest that makes both integers.
#include "tilewright/quantize/calibrate/quantization.h"

#include <algorithm>
#include <cmath>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

constexpr double kMultiplierLimit = 0x1p22;
// Only ratios below 2^-10 would need more, and the weighted sum is then 0.
constexpr int kMaximumShift = 31;

}  // namespace

int64_t quantize_number(float value, const Quantization& q, int64_t low, int64_t high) {
  const float quotient = std::nearbyint(value / q.scale);
  if (std::isnan(quotient)) return clip(q.zero_point, low, high);
  // Saturate in float first: the cast of a large float to an integer is undefined.
  const double shifted = double(quotient) + q.zero_point;
  return int64_t(std::clamp(shifted, double(low), double(high)));
}

double dequantize_number(int64_t value, const Quantization& q) {
  return double(q.scale) * double(value - q.zero_point);
}

std::optional<int> exponent_of_power_of_two(double value) {
  int exponent = 0;
  if (!std::isfinite(value) || value <= 0 || std::frexp(value, &exponent) != 0.5) return std::nullopt;
  return exponent - 1;
}

std::optional<AdditionMultipliers> encode_addition(double ratio_a, double ratio_b) {
  const double a = std::fabs(ratio_a), b = std::fabs(ratio_b);
  const double bigger = std::max(a, b);
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0 || bigger >= kMultiplierLimit) {
    return std::nullopt;
  }
  int exponent = 0;
  std::frexp(bigger, &exponent);  // bigger = m * 2^exponent, m in [0.5, 1)
  int shift = std::min(22 - exponent, kMaximumShift);
  const auto exponent_a = exponent_of_power_of_two(a), exponent_b = exponent_of_power_of_two(b);
  if (exponent_a && exponent_b) shift = std::min(shift, std::max(0, -std::min(*exponent_a, *exponent_b)));
  // Rounding may carry the bigger multiplier to 2^22 itself.
  if (std::llround(std::ldexp(bigger, shift)) >= int64_t(kMultiplierLimit)) --shift;
  if (shift < 0) return std::nullopt;
  return AdditionMultipliers{int32_t(std::llround(std::ldexp(ratio_a, shift))),
                             int32_t(std::llround(std::ldexp(ratio_b, shift))), shift};
}

std::optional<AdditionMultipliers> encode_addition_in_float(float ratio_a, float ratio_b) {
  const auto encoded = encode_addition(ratio_a, ratio_b);
  if (!encoded ||
      (exponent_of_power_of_two(std::fabs(ratio_a)) && exponent_of_power_of_two(std::fabs(ratio_b))))
    return encoded;
  const int shift = 20 - std::ilogb(std::max(std::fabs(ratio_a), std::fabs(ratio_b)));
  if (shift < 0 || shift > kMaximumShift) return std::nullopt;
  return AdditionMultipliers{int32_t(std::lrint(std::ldexp(ratio_a, shift))),
                             int32_t(std::lrint(std::ldexp(ratio_b, shift))), shift};
}

bool varies_by_column_only(const Shape& bias, int64_t columns) {
  for (int axis = 0; axis + 1 < bias.rank(); ++axis) {
    if (bias[axis] != 1) return false;
  }
  return bias.rank() == 0 || bias[bias.rank() - 1] == 1 || bias[bias.rank() - 1] == columns;
}

}  // namespace tilewright
