// Multipliers that reproduce the rounding of another runtime. A rule that scales an accumulator to 8 bits is
// a staircase of at most 255 steps. Most rules round as requantize() does but for a few accumulators next to
// a tie, and there a multiplier that differs in its last bits puts the step where the rule has it.
#pragma once

#include <cstdint>
#include <functional>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {

// Both ends included.
struct IntegerRange {
  int64_t low = 0, high = 0;
};

// Of an accumulator: its scaled value without zero point. Never falls as the accumulator grows.
using ScaleRule = std::function<int64_t(int64_t)>;

struct FittedScale {
  Requantization scale;
  // Steps that come an accumulator or so too early or too late; 0: the rule's results for every accumulator.
  int64_t missed_steps = 0;
  bool operator==(const FittedScale&) const = default;
};

// The scale with which clip(round_shift(acc * multiplier, shift), output) is clip(rule(acc), output) for as
// many acc of `accumulators` (within 32 bits) as possible: that of encode_scale(scale) where none is better.
// Steps are missed where halves go up here and down there, and where a rule of few significant bits meets so
// large accumulators that the steps want different multipliers.
// `largest_shift`: of the result, whose multiplier then may have fewer than 31 bits.
FittedScale fit_scale(double scale, const ScaleRule& rule, IntegerRange accumulators, IntegerRange output,
                      int largest_shift = 62);

// encode_scale(scale) under a rounding; `scale_in_float` is the same scale as the runtime computes it. Where
// no scale fits the runtime's rounding, that of kOnce.
Requantization encode_rounded(Rounding rounding, double scale, float scale_in_float,
                              IntegerRange accumulators, IntegerRange output);

// The scale of a tensor that is only brought to another one. XNNPACK takes eight bits behind the point for
// those in 2^-8..2^7, and leaves others to the built-in kernels.
Requantization encode_copy(Rounding rounding, double scale, float scale_in_float);

// XNNPACK, which TFLite's runtime hands its layers to by default: the product of two 32-bit floats, to
// nearest even.
ScaleRule float_scale_rule(float scale);

// TFLite's averages of windows: the quotient by `count` (> 0), halves away from zero.
ScaleRule average_rule(int64_t count);

}  // namespace tilewright
