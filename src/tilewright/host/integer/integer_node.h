// Attributes and shapes of the integer operators (docs/reference/arithmetic.md), read from graph nodes and
// checked.
#pragma once

#include "tilewright/graph/window.h"
#include "tilewright/host/integer/integer_conv.h"
#include "tilewright/host/kernel.h"
#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {

// Errors of all functions (invalid input): a value outside of its range, naming the attribute or input.

// y_zero_point, clip_low, clip_high, bipolar, output_bits.
OutputStage output_stage(const Node& node);
// Attribute `name` as a 32-bit integer in [low, high].
int32_t integer_attribute(const Node& node, const char* name, int32_t fallback, int64_t low, int64_t high);
// multiplier, shift, or other attributes with that meaning.
Requantization single_scale(const Node& node, const char* multiplier = "multiplier",
                            const char* shift = "shift");
// Attribute `name` as an element of `tensor`; 0 where it is missing.
int32_t element_attribute(const Node& node, const char* name, const Tensor& tensor);
// The window of a 1-D or 2-D node as height and width; a 1-D one has a height of 1. kUnsupported: more axes.
IntegerConvShape conv_shape(const Window& window, const Shape& x, int64_t output_channels, int64_t group);
// `group`, checked against the shapes of X [N,C,...] and W [O,C/group,...].
int64_t checked_group(const Node& node, const Shape& x, const Shape& weights);
// `group` of a transposed convolution: W is [C,O/group,...].
int64_t checked_transposed_group(const Node& node, const Shape& x, const Shape& weights);

// The inputs B, M and S of one operator with `channels` output channels.
class ChannelScales {
 public:
  ChannelScales(const Tensor& bias, const Tensor& multiplier, const Tensor& shift, int64_t channels);
  // Whether the accumulators have 64 bits: the bias is i64.
  bool is_wide() const { return !wide_bias_.empty(); }
  int64_t bias(int64_t channel) const {
    return is_wide() ? wide_bias_[size_t(channel)] : bias_[size_t(channel)];
  }
  Requantization scale(int64_t channel) const {
    return {multiplier_[multiplier_.size() == 1 ? 0 : size_t(channel)],
            shift_[shift_.size() == 1 ? 0 : size_t(channel)]};
  }

 private:
  std::span<const int64_t> wide_bias_;
  std::span<const int32_t> bias_, multiplier_, shift_;
};

// i8, u8 or i16 values as i16. Errors (unsupported): another type.
std::vector<int16_t> weight_values(const Tensor& tensor);

}  // namespace tilewright
