// Properties of operators that several passes ask for.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// One output whose element k depends only on element k of the one non-constant input, and on scalar
// parameters: Relu, Clip, Sigmoid, Cast, ...
bool is_elementwise_unary(const Graph& graph, const Node& node);
// Add, Sub, Mul, Div, Min, Max, Pow and the like: numpy broadcasting of their inputs.
bool is_broadcasting(const Node& node);
// Relu, Clip, LeakyRelu, Sigmoid, ...: what a layer's output may pass through before it is stored.
bool is_activation(const Node& node);
// Conv, ConvTranspose, Gemm, MatMul and their integer forms.
bool is_layer(const Node& node);

}  // namespace tilewright
