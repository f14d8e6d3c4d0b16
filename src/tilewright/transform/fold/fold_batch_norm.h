// BatchNormalization and other per-channel scales and shifts after a layer, folded into that layer.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Folds per-channel scales and shifts - BatchNormalization, and Add, Sub, Mul, Div with a constant per
// channel or a scalar - into the weights and bias of the Conv, ConvTranspose or Gemm before them:
// W' = W * scale[o], b' = b * scale[o] + shift[o], computed in f64. Fires when the layer's output has no
// other reader and its weights and bias are f32 constants. Shared weights are copied. Weights that are
// dequantised integers (Conv, Gemm) stay so: the factors go into their scales. A BatchNormalization of N x C
// numbers with further axes of 1 is moved before the Reshape that adds these.
Graph fold_batch_norm(Graph graph);

}  // namespace tilewright
