// The wide fixed-point operators and the 8-bit table of docs/reference/arithmetic.md, written out as their
// definition says. Faster implementations are compared with these and share no code with them.
//
// All functions are pure. Activations are i32 and NCHW. Errors (invalid input): wrong element type or rank,
// shapes that do not match each other, a fraction outside 0..30, a window that does not fit.
#pragma once

#include <array>

#include "tilewright/tensor/fixed_point.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {

struct FixedConvParameters {
  WindowParameters window;  // padding holds 0
  int64_t group = 1;
  int fraction = 22;
  FixedClip clip;
};

struct FixedAveragePoolParameters {
  WindowParameters window;  // padding holds 0 and counts
  std::array<int64_t, 2> kernel = {1, 1};
  int32_t multiplier = 1;
  int fraction = 22;
  FixedClip clip;
};

// X i32[N,C,H,W], W i32[O,C/group,kH,kW], B i32[O] -> i32[N,O,oH,oW].
Tensor reference_fixed_conv(const Tensor& x, const Tensor& weights, const Tensor& bias,
                            const FixedConvParameters& parameters);
// X i32[N,K], W i32[O,K], B i32[O] -> i32[N,O].
Tensor reference_fixed_gemm(const Tensor& x, const Tensor& weights, const Tensor& bias, int fraction,
                            FixedClip clip = {});
// A, B i32 of one shape -> i32 of that shape.
Tensor reference_fixed_add(const Tensor& a, const Tensor& b, FixedClip clip = {});
// X i32[N,C,H,W] -> i32[N,C,oH,oW].
Tensor reference_fixed_average_pool(const Tensor& x, const FixedAveragePoolParameters& parameters);
// X i32 of any shape, table i32[513] -> i32 of the shape of X.
Tensor reference_fixed_lookup(const Tensor& x, const Tensor& table, int input_shift);
// X f32 of any shape -> i32; X i32 -> f32.
Tensor reference_fixed_encode(const Tensor& x, int fraction);
Tensor reference_fixed_decode(const Tensor& x, int fraction);
// X i8 of any shape, table i8[256] -> i8: table[x + 128].
Tensor reference_lookup(const Tensor& x, const Tensor& table);

}  // namespace tilewright
