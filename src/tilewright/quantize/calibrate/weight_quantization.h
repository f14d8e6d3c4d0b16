// Symmetric quantisation of weights.
#pragma once

#include <vector>

#include "tilewright/quantize/calibrate/range_selection.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// The scale of each channel of f32 `weights` (channel c owns the indices c of `axis`), or a single one when
// not `per_channel`; 0 where all weights are 0. Of `form`, bits and power_of_two count: weights are always
// symmetric and their lowest number is minus the highest. Scales that must be powers of two or have fewer
// than 8 bits minimise the squared error; others cover the largest weight.
std::vector<double> select_weight_scales(const Tensor& weights, int axis, bool per_channel,
                                         const NumberForm& form);

// The scale of weights that share one, chosen in the same way.
double select_weight_scale(const std::vector<float>& weights, const NumberForm& form);

// Round half to even for magnitudes below 2^51, several times faster than the library call: adding the
// constant pushes the fraction out of the mantissa.
inline double round_half_even(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

// The weights divided by those scales, rounded half to even and saturated, as i8 whatever the number of bits.
Tensor round_weights(const Tensor& weights, int axis, const std::vector<double>& scales,
                     const NumberForm& form);

}  // namespace tilewright
