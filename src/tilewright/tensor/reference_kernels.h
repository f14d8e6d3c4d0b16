// The integer operators of docs/reference/arithmetic.md, written out as their definition says: one loop per
// index, no blocking, no threads. They are what every faster implementation is compared with, so they share
// no code with one. Activations are i8 or i16 and NCHW, weights i8 or i16; accumulators wrap modulo 2^32, or,
// where the bias is i64, modulo 2^64. "i8|i16": X chooses between them for itself, OutputStage::bits for y.
//
// All functions are pure. Errors (invalid input): wrong element type or rank, shapes that do not match each
// other, parameters out of their stated range, a window that does not fit, an empty output.
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// What follows the requantising shift: bit = clip(value + y_zero_point, clip_low, clip_high), and out is
// that, or 2 * bit - 1 where the output is bipolar.
struct OutputStage {
  int32_t y_zero_point = 0;
  int32_t clip_low = -128;  // clip_low <= clip_high, both inside the output's type; bipolar: 0 and 1
  int32_t clip_high = 127;
  bool bipolar = false;
  int32_t bits = 8;  // of the output: 8 or 16
  bool operator==(const OutputStage&) const = default;
};

// How a window moves over the two spatial axes, with the meaning of the ONNX attributes.
struct WindowParameters {
  std::array<int64_t, 2> strides = {1, 1};     // vertical, horizontal; >= 1
  std::array<int64_t, 2> dilations = {1, 1};   // distance of two taps; >= 1
  std::array<int64_t, 4> pads = {0, 0, 0, 0};  // top, left, bottom, right; >= 0
  bool operator==(const WindowParameters&) const = default;
};

struct ConvParameters {
  WindowParameters window;
  int64_t group = 1;
  int32_t pad_value = 0;  // what the padding holds; inside the type of X
  OutputStage output;
  bool operator==(const ConvParameters&) const = default;
};

struct ConvTransposeParameters {
  WindowParameters window;  // of the convolution whose gradient this is: strides spread the input out
  std::array<int64_t, 2> output_padding = {0, 0};  // extra rows and columns at the bottom and right
  int64_t group = 1;
  OutputStage output;
  bool operator==(const ConvTransposeParameters&) const = default;
};

struct AddParameters {
  int32_t multiplier_a = 1, multiplier_b = 1;  // magnitude < 2^23
  int32_t bias = 0;
  int32_t shift = 0;  // 0..31
  OutputStage output;
  bool operator==(const AddParameters&) const = default;
};

// A sum whose operands are rescaled first: 16-bit tensors, whose products with 22-bit multipliers would not
// fit an accumulator.
struct RescaledAddParameters {
  Requantization a, b;  // of A * 2^15 and B * 2^15; 1/2 or less
  bool subtract = false;
  int32_t bias = 0;
  Requantization sum;
  OutputStage output;
  bool operator==(const RescaledAddParameters&) const = default;
};

struct MultiplyParameters {
  int32_t a_zero_point = 0, b_zero_point = 0;  // inside the types of A and B
  int32_t multiplier = 1, shift = 0;           // multiplier > 0; shift as in Requantization
  OutputStage output;
  bool operator==(const MultiplyParameters&) const = default;
};

struct AveragePoolParameters {
  WindowParameters window;
  std::array<int64_t, 2> kernel = {1, 1};
  int32_t pad_value = 0;
  int32_t bias = 0;
  int32_t multiplier = 1, shift = 0;  // multiplier > 0; shift as in Requantization
  OutputStage output;
  bool operator==(const AveragePoolParameters&) const = default;
};

struct MaxPoolParameters {
  WindowParameters window;  // padding never wins, whatever its position
  std::array<int64_t, 2> kernel = {1, 1};
  bool ceil_mode = false;  // a last window that starts in the bottom or right padding is dropped
  bool operator==(const MaxPoolParameters&) const = default;
};

struct RequantizeParameters {
  int32_t bias = 0;
  int32_t multiplier = 1, shift = 0;  // multiplier > 0; shift as in Requantization
  OutputStage output;
  bool operator==(const RequantizeParameters&) const = default;
};

// Output size of a window of `kernel` taps along one spatial axis (0: vertical, 1: horizontal); may be <= 0.
int64_t window_output_size(const WindowParameters& window, int axis, int64_t input, int64_t kernel,
                           bool ceil_mode = false);
// Output size of the transposed convolution along one spatial axis.
int64_t transpose_output_size(const ConvTransposeParameters& parameters, int axis, int64_t input,
                              int64_t kernel);

// X i8|i16[N,C,H,W], W i8|i16[O,C/group,kH,kW], B i32|i64[O], multiplier and shift i32[O] or i32[1] ->
// i8|i16[N,O,oH,oW]. With a 64-bit bias nothing is rounded twice.
Tensor reference_conv(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& multiplier,
                      const Tensor& shift, const ConvParameters& parameters);

// X i8|i16[N,C,H,W], W i8|i16[C,O/group,kH,kW], B, multiplier and shift as above -> i8|i16[N,O,oH,oW].
Tensor reference_conv_transpose(const Tensor& x, const Tensor& weights, const Tensor& bias,
                                const Tensor& multiplier, const Tensor& shift,
                                const ConvTransposeParameters& parameters);

// X i8|i16[N,K], W i8|i16[O,K], B, multiplier and shift as above -> i8|i16[N,O].
Tensor reference_gemm(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& multiplier,
                      const Tensor& shift, const OutputStage& output);

// A, B i8 of one shape -> i8 of that shape.
Tensor reference_add(const Tensor& a, const Tensor& b, const AddParameters& parameters);

// A, B i8|i16 of one shape -> i8|i16 of that shape.
Tensor reference_rescaled_add(const Tensor& a, const Tensor& b, const RescaledAddParameters& parameters);

// A, B i8|i16 of shapes that broadcast -> i8|i16 of the common shape.
Tensor reference_multiply(const Tensor& a, const Tensor& b, const MultiplyParameters& parameters);

// X i8|i16[N,C,H,W] -> i8|i16[N,C,oH,oW].
Tensor reference_average_pool(const Tensor& x, const AveragePoolParameters& parameters);

// X i8|i16[N,C,H,W] -> its type, [N,C,oH,oW]. A window that holds nothing but padding gives the lowest value.
Tensor reference_max_pool(const Tensor& x, const MaxPoolParameters& parameters);

// X i8|i16 (any shape) -> i8|i16 of the same shape.
Tensor reference_requantize(const Tensor& x, const RequantizeParameters& parameters);

}  // namespace tilewright
