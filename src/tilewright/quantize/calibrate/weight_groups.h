// Weights in groups: N consecutive inputs of an output channel share an integer factor, the channel one real
// scale. A weight is w * factor * scale with w of few bits, and w * factor fits 8 bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/quantize/calibrate/layer_inputs.h"
#include "tilewright/quantize/calibrate/range_selection.h"

namespace tilewright {

// The largest magnitude of a factor beside w of `bits` bits, 2..7: 127 / 2^(bits-1). 8 bits leave none: 0.
int64_t largest_factor(int bits);
// Of one factor, as an index among those possible.
int factor_bits(int bits);

// The factors of one layer.
struct WeightFactors {
  int64_t group_size = 0;       // inputs of a group, the last of an output may have fewer; 0: no groups
  int64_t depth = 0;            // inputs of an output
  std::vector<int8_t> factors;  // output by output, group by group; -127..127, never 0
  bool grouped() const { return group_size > 0; }
  int64_t groups_per_output() const { return (depth + group_size - 1) / group_size; }
  // Of input k; 1 without groups.
  int64_t of(int64_t output, int64_t k) const {
    return grouped() ? factors[size_t(output * groups_per_output() + k / group_size)] : 1;
  }
};

// The scale of each output of `weights` (f32, placed as `matrix` says), or a single one when not
// `per_channel`, for groups of `group_size` >= 2 inputs: that which leaves the smallest squared error with
// the best factors, never a larger one than select_weight_scales leaves. 0 where all weights are 0.
// form: 2..7 bits.
std::vector<double> select_group_scales(std::span<const float> weights, const LayerMatrix& matrix,
                                        int64_t group_size, bool per_channel, const NumberForm& form);

// The factors with the smallest squared error beside these scales; 1 where a group's weights are all 0.
WeightFactors select_factors(std::span<const float> weights, const LayerMatrix& matrix, int64_t group_size,
                             const std::vector<double>& scales, const NumberForm& form);

// w * factor of each weight, in the order of `weights`: w rounded half to even and saturated to form.lowest()
// and form.highest().
void round_in_groups(std::span<const float> weights, const LayerMatrix& matrix,
                     const std::vector<double>& scales, const WeightFactors& factors, const NumberForm& form,
                     std::span<int8_t> integers);

// What a group's integers are products of.
struct GroupForm {
  int bits = 8;    // of w: the fewest, 2..8, for which there is a factor
  int factor = 1;  // of all that fit, the smallest magnitude, positive where both signs fit
};

// For each output, group by group: whether and how integers of 8 bits are w * factor by the rule above.
std::vector<GroupForm> forms_of_groups(std::span<const int8_t> integers, const LayerMatrix& matrix,
                                       int64_t group_size);

}  // namespace tilewright
