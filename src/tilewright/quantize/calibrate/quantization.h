// Affine quantisation of one tensor, and the number forms that integer operators need.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/tensor/shape.h"

namespace tilewright {

// q stands for scale * (q - zero_point).
struct Quantization {
  float scale = 1;
  int32_t zero_point = 0;
  bool operator==(const Quantization&) const = default;
};

// QuantizeLinear of one number (ONNX): the quotient in float32, round half to even, then saturate. NaN gives
// the zero point.
int64_t quantize_number(float value, const Quantization& q, int64_t low, int64_t high);
double dequantize_number(int64_t value, const Quantization& q);

// How QAdd (docs/reference/arithmetic.md) forms ratio_a * a + ratio_b * b: out = (a * multiplier_a + b *
// multiplier_b) / 2^shift.
struct AdditionMultipliers {
  int32_t multiplier_a = 1;
  int32_t multiplier_b = 1;
  int32_t shift = 0;  // 0..31
  bool operator==(const AdditionMultipliers&) const = default;
};

// Powers of two give powers of two, the smaller of them 1 where the shift allows; everything else the largest
// shift for which the bigger multiplier stays below 2^22, so that the sum of two products of 9-bit numbers
// fits 32 bits. nullopt: a ratio that is zero, not finite or so large that its multiplier reaches 2^22.
std::optional<AdditionMultipliers> encode_addition(double ratio_a, double ratio_b);

// The same as XNNPACK forms it, from ratios of 32-bit floats: the bigger multiplier lies in 2^20..2^21, and
// both are rounded half to even. Powers of two as above, which gives the same sums. nullopt: as above, and
// ratios so small that the shift leaves 31.
std::optional<AdditionMultipliers> encode_addition_in_float(float ratio_a, float ratio_b);

// 2^exponent when `value` is exactly that.
std::optional<int> exponent_of_power_of_two(double value);

// Whether a bias, broadcast to [rows, columns] as ONNX does it, is the same in every row.
bool varies_by_column_only(const Shape& bias, int64_t columns);

}  // namespace tilewright
