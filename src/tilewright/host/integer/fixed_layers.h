// Convolution and dense layers in wide fixed point (docs/reference/arithmetic.md), blocked and threaded; they
// also report the sums they saw.
#pragma once

#include <vector>

#include "tilewright/graph/window.h"
#include "tilewright/host/integer/fixed_products.h"
#include "tilewright/tensor/fixed_point.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Errors (unsupported): another element type than i32.
void require_i32(const Tensor& tensor);

struct FixedFinish {
  int fraction = 22;
  FixedClip clip;
};

// The sums of a layer, over everything it computed.
struct FixedExtremes {
  uint64_t largest_sum = 0;  // magnitude of the accumulator as a signed number, rounding constant left out
  int64_t saturated = 0;     // outputs that were clipped by a limit of i32, not by an activation
  void join(const FixedExtremes& other);
};

// Weights i32[O,C/group,kernel...] or [O,K], reordered once for the products.
class FixedWeights {
 public:
  // Errors (unsupported): another element type. (invalid input): groups that do not divide the channels.
  FixedWeights(const Tensor& weights, int64_t group, FixedProducts products = best_fixed_products());

  // X i32[N,C,H,W] -> i32[N,O,oH,oW]. `bias` is i32[O], `window` that of the weights. `seen` may be null.
  // Errors (unsupported): another element type; more than two spatial axes.
  Tensor convolve(const Tensor& x, const Window& window, const Tensor& bias, const FixedFinish& finish,
                  int threads, FixedExtremes* seen = nullptr) const;
  // X i32[N,K] -> i32[N,O].
  Tensor multiply(const Tensor& x, const Tensor& bias, const FixedFinish& finish, int threads,
                  FixedExtremes* seen = nullptr) const;

 private:
  struct Output;
  void finish_block(int64_t group, const int32_t* values, Output& output) const;

  FixedProducts products_;
  int64_t groups_ = 1, rows_ = 0, depth_ = 0;  // of one group
  int64_t blocks_ = 0;                         // of kFixedRows rows, the last one filled up with zeros
  std::vector<int32_t> packed_;                // [group][block][depth][kFixedRows]
};

}  // namespace tilewright
