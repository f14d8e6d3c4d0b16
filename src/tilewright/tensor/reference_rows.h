// The integer operators of transformers (docs/reference/arithmetic.md), written out as their definition says:
// products of two activations, and what is computed along the last axis of a tensor. They share no code with
// a faster implementation.
//
// All functions are pure. Errors (invalid input): wrong element type or rank, shapes that do not match each
// other, parameters out of their stated range, rows longer than the accumulators allow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

struct ProductParameters {
  int32_t a_zero_point = 0, b_zero_point = 0;  // inside the types of A and B
  bool transpose_b = false;                    // B is [..., N, K]
  // Of operands of rank 2: the number of products, and of matrices B, which divides it; as many products in
  // turn share one. Matrices stand below each other, or side by side where `columns` is set.
  int64_t heads = 1, groups = 0;  // groups 0: as heads
  bool a_columns = false, b_columns = false, y_columns = false;
  int32_t multiplier = 1, shift = 0;  // multiplier > 0; shift as in Requantization
  OutputStage output;
  bool operator==(const ProductParameters&) const = default;
};

struct SoftmaxParameters {
  int64_t numerator = 1;  // 1..2^54: one, in units of the output's scale and 2^-shift
  int32_t shift = 0;      // 0..62
  OutputStage output;
  int64_t causal = 0;  // above 0: row r sees columns up to `position` + r modulo `causal` alone
  bool operator==(const SoftmaxParameters&) const = default;
};

// The columns that row `row` sees, from the first on, of a softmax with `causal` above 0.
inline int64_t seen_columns(int64_t row, int64_t causal, int64_t position, int64_t columns) {
  return std::min(columns, position + row % causal + 1);
}

struct NormParameters {
  int32_t x_zero_point = 0;  // inside the type of X
  bool center = true;        // subtract the mean: layer norm; otherwise RMS norm
  int32_t fraction = 0;      // 0..8: twice as many bits below the unit has the variance beside epsilon
  int64_t epsilon = 1;       // 1..2^61, beside 4^fraction times the variance times the square of the channels
  OutputStage output;
  bool operator==(const NormParameters&) const = default;
};

struct RotaryParameters {
  int32_t x_zero_point = 0;  // inside the type of X
  int64_t heads = 1;         // side by side in the channels; more than one only of rank 2
  int32_t multiplier = 1, shift = 0;
  OutputStage output;
  bool operator==(const RotaryParameters&) const = default;
};

// Rows beyond leave the accumulators: exponentials are at most 2^23, and add up to less than 2^31.
inline constexpr int64_t kLongestSoftmax = 32768, kMostExponential = int64_t{1} << 23;
inline constexpr int64_t kMostNumerator = int64_t{1} << 54;
inline constexpr int64_t kLongestNorm = 16384, kMostEpsilon = int64_t{1} << 61;
// A normalised value has as many bits below its unit.
inline constexpr int kNormFraction = 16;

// The products of a QMatMul, and where their elements stand: element (row, column) of matrix h is at
// h * head + row * row_stride + column, of B with `group(h)` for h.
struct ProductGeometry {
  struct Place {
    int64_t head = 0, row = 0;
  };
  int64_t heads = 1, groups = 1, rows = 0, depth = 0, columns = 0;
  bool transpose_b = false;
  Place a, b, y;
  Shape result;

  int64_t group(int64_t h) const { return groups == 0 ? 0 : h / (heads / groups); }
};
// Only the fields of `parameters` that say where matrices stand are read. nullopt: the shapes do not fit.
std::optional<ProductGeometry> product_geometry(const Shape& a, const Shape& b,
                                                const ProductParameters& parameters);

// A i8|i16[..., M, K], B i8|i16[..., K, N] or, transposed, [..., N, K] -> i8|i16[..., M, N]. The axes before
// the last two are those of both; or `heads` matrices in operands of rank 2 (ProductGeometry).
Tensor reference_product(const Tensor& a, const Tensor& b, const ProductParameters& parameters);

// X i8[..., N], table i32[256] -> i8|i16[..., N]: table[d] stands for the exponential of -d steps of X.
// `position`, in 0..N-1, counts only where the softmax is causal; rows are those of the last two axes.
Tensor reference_softmax(const Tensor& x, const Tensor& table, const SoftmaxParameters& parameters,
                         int64_t position = 0);

// X i8|i16[..., C], B i32[C], multiplier and shift i32[C] or i32[1], multipliers of either sign ->
// i8|i16[..., C].
Tensor reference_norm(const Tensor& x, const Tensor& bias, const Tensor& multiplier, const Tensor& shift,
                      const NormParameters& parameters);

// The rows of a QRotary: `tokens` in turn, each of `heads` heads of two halves.
struct RotaryGeometry {
  int64_t tokens = 0, heads = 1, half = 0;
};
// X [..., T, d], or of rank 2 [T, heads * d]; cosines and sines [T, d / 2]. nullopt: they do not fit.
std::optional<RotaryGeometry> rotary_geometry(const Shape& x, const Shape& cosines, const Shape& sines,
                                              int64_t heads);

// X, cosines and sines i8 -> i8|i16 of the shape of X.
Tensor reference_rotary(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                        const RotaryParameters& parameters);

}  // namespace tilewright
