// Images with their channels last: N x C x spatial of ONNX as N x spatial x C.
#pragma once

#include <span>
#include <vector>

#include "tilewright/tensor/shape.h"

namespace tilewright {

// The axes of the channels-last form in terms of the ONNX form: 0, 2, ..., rank - 1, 1.
std::vector<int> channels_last_axes(int rank);
// The axes of the ONNX form in terms of the channels-last form: 0, rank - 1, 1, ..., rank - 2.
std::vector<int> channels_first_axes(int rank);

// The sizes in the order of the axes.
Shape permuted(const Shape& shape, std::span<const int> axes);
inline Shape channels_last(const Shape& shape) { return permuted(shape, channels_last_axes(shape.rank())); }
inline Shape channels_first(const Shape& shape) { return permuted(shape, channels_first_axes(shape.rank())); }

// Whether a permutation of a tensor's axes leaves its elements in their order.
bool keeps_order(const Shape& shape, std::span<const int> axes);

}  // namespace tilewright
