// Output shapes and multiply-accumulates of convolutions, for every operator that contains one.
#pragma once

#include "tilewright/graph/operators/operators.h"

namespace tilewright {

// Inputs `x_index` (N x C x spatial) and `weights_index` (O x C/group x kernel; transposed C x O/group x
// kernel). Errors (invalid input): channels, groups or windows that do not fit.
Shape convolution_shape(const OperatorContext& context, int x_index, int weights_index);
Shape transposed_convolution_shape(const OperatorContext& context, int x_index, int weights_index);

int64_t convolution_macs(const Shape& weights, const Shape& output);
// Of an operator whose weights are input 1.
int64_t weighted_macs(const OperatorContext& context, std::span<const TypedShape> outputs);
int64_t transposed_convolution_macs(const Shape& x, const Shape& weights);

}  // namespace tilewright
