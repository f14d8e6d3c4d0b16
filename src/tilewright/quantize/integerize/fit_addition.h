// A sum of two tensors as TFLite's built-in kernels define it, with six roundings, in the form of QAdd, which
// has one.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/quantize/calibrate/quantization.h"
#include "tilewright/quantize/integerize/fit_scale.h"

namespace tilewright {

// a + sign * b of i8 tensors, clipped to `output` (integers with the zero point of y).
struct QuantizedSum {
  Quantization a, b, y;
  int sign = 1;
  IntegerRange output{-128, 127};
};

// What TFLite's kernels ADD and SUB give for two integers.
int64_t twice_rounded_sum(const QuantizedSum& sum, int64_t a, int64_t b);

struct FittedAddition {
  AdditionMultipliers multipliers;
  int64_t bias = 0;          // with what the zero points contribute
  int64_t missed_pairs = 0;  // of the 65,536 pairs of integers, those with another result
};

// The multipliers and the bias of QAdd that give the fewest other results. Nullopt: as of encode_addition.
std::optional<FittedAddition> fit_addition(const QuantizedSum& sum);

}  // namespace tilewright
