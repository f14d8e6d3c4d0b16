// Convolutions as plain loops over any number of spatial axes: for f64 and for ranks oneDNN does not know,
// and as the reference for the oneDNN path. f32 sums run in f64.
#pragma once

#include "tilewright/graph/window.h"
#include "tilewright/host/kernel.h"

namespace tilewright {

// x: N x C x spatial, weights: O x C/group x kernel, bias: O or nullptr; all f32 or all f64.
Tensor plain_convolution(const Tensor& x, const Tensor& weights, const Tensor* bias, const Window& window,
                         int64_t group, int threads);

// weights: C x O/group x kernel.
Tensor plain_transposed_convolution(const Tensor& x, const Tensor& weights, const Tensor* bias,
                                    const Window& window, int64_t group, int threads);

}  // namespace tilewright
