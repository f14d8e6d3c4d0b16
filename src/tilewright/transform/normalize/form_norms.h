// Layer normalisation and normalisation by the root of the mean square, which exporters write as means,
// squares and roots, become one LayerNormalization or RMSNormalization.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Takes the mean and the variance over the last axis or the last several: ReduceMean (or ReduceSum and a
// division by the size), the square as Pow, Mul or ReduceSumSquare, a positive constant added, the root as
// Sqrt with Div, as Reciprocal with Mul, or as Pow -0.5; a constant scale before or after the product, a
// constant bias; TensorFlow's x * f + (bias - mean * f) with f = scale / root; Cast to f32 and back around.
// Results stay within rounding. Fires when the values between have no other reader and are of type f32.
Graph form_norms(Graph graph);

}  // namespace tilewright
