// Gathering elements by a regular pattern: what transposing, slicing, repeating and block shuffling have in
// common.
#pragma once

#include <span>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// out[i0, i1, ...] = in[offset + sum(i_k * strides[k])], offset and strides counted in elements of `in`;
// a stride may be 0 or negative. The caller guarantees that all indices are inside. Types of 8 bits and more.
Tensor strided_copy(const Tensor& in, const Shape& out, std::vector<int64_t> strides, int64_t offset = 0);

// out[i0, i1, ...] = in[maps[0][i0], maps[1][i1], ...]; where any of them is -1, `fill` (one element of the
// same type; nullptr: zero bytes). One map per axis of `in`. Types of 8 bits and more.
Tensor mapped_copy(const Tensor& in, std::span<const std::vector<int64_t>> maps,
                   const Tensor* fill = nullptr);

// The tensor with its axes in the order of `permutation`: out axis k is in axis permutation[k].
Tensor transposed(const Tensor& in, std::span<const int> permutation);

}  // namespace tilewright
