// Per-channel scales and shifts before a layer (input normalisation, batch normalisation), folded into that
// layer.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Folds a per-channel scale and shift into the Conv, ConvTranspose or Gemm that reads it, where it could not
// go into a layer before it: W' = W * scale[i], b' = b + sum over i of shift[i] * W. Fires when the layer is
// the only reader, its weights and bias are f32 constants, and a shift meets no padding (which stays 0) and
// no transposed convolution.
Graph fold_input_affine(Graph graph);

}  // namespace tilewright
