// Which layers oneDNN runs with channels last. Shapes are those of ONNX: N x C x spatial.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// For Conv and ConvTranspose whose operands fit each other. Errors as for convolution_window.
bool onednn_convolves(const Node& node, const Shape& x, const Shape& weights);
// For MaxPool, AveragePool and the global pools with one output, on f32. Errors as for pool_window.
bool onednn_pools(const Node& node, const Shape& x);

}  // namespace tilewright
