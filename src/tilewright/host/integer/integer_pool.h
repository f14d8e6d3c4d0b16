// Pooling of 8-bit tensors.
#pragma once

#include "tilewright/graph/window.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {

// QAveragePool over the window `window` of a 1-D or 2-D node; the window and kernel of `parameters` are not
// used. X: i8[N,C,...]. Errors (unsupported): more spatial axes.
Tensor integer_average_pool(const Tensor& x, const Window& window, const AveragePoolParameters& parameters,
                            int threads);

// ONNX MaxPool, i8 or u8 [N,C,...], one or two spatial axes (errors: unsupported). A window of nothing but
// padding gives the lowest value.
Tensor integer_max_pool(const Tensor& x, const Window& window, int threads);

}  // namespace tilewright
