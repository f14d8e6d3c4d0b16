// Memory layouts: permutations, and the blocked forms that tensor processors read. Every function works on
// all element types, the packed ones below 8 bits included, and moves bits without interpreting them.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Axis k of the result is axis permutation[k] of `tensor` (ONNX Transpose).
// Errors (invalid input): `permutation` is none of the axes of `tensor`.
Tensor permute(const Tensor& tensor, const std::vector<int>& permutation);

// Cuts each axis off at, or extends it at its end to, the sizes of `shape`; new elements hold `fill` (of
// integer types; saturated to the type). Errors (invalid input): another rank.
Tensor resize(const Tensor& tensor, const Shape& shape, int64_t fill = 0);

// [N,C,H,W] -> [N,H,W,C] and back. Errors (invalid input): rank other than 4.
Tensor nchw_to_nhwc(const Tensor& tensor);
Tensor nhwc_to_nchw(const Tensor& tensor);

// [N,C,H,W] -> [ceil(N/batch)][ceil(C/block)][H][W][batch][block]; lanes beyond N and C hold `fill`.
// Errors (invalid input): rank other than 4, a block size below 1.
Tensor block_activations(const Tensor& tensor, int64_t batch, int64_t block, int64_t fill = 0);
// The inverse: the first `n` images and `c` channels of a blocked tensor, as [n,c,H,W].
// Errors (invalid input): rank other than 6, fewer images or channels in the tensor.
Tensor unblock_activations(const Tensor& tensor, int64_t n, int64_t c);

// [O,I,kH,kW] -> [ceil(O/block_out)][ceil(I/block_in)][kH][kW][block_out][block_in]; the rest holds `fill`.
Tensor block_weights(const Tensor& tensor, int64_t block_out, int64_t block_in, int64_t fill = 0);
// The inverse: [o,i,kH,kW].
Tensor unblock_weights(const Tensor& tensor, int64_t o, int64_t i);

}  // namespace tilewright
