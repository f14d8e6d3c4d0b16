// Convolutions and dense layers with constant weights, brought to one form of real weights and biases.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct RealLayer {
  std::vector<double> weights;  // of weight_shape, row-major
  Shape weight_shape;           // [O,C/group,kH,kW], or [O,K] for dense layers
  std::vector<double> bias;     // one per output channel
  std::string problem;          // why the node has no such form; empty: it has
};

// Conv on N x C x H x W.
RealLayer real_convolution(const Graph& graph, const Node& node);
// Gemm (its first operand not transposed) or MatMul with weights of rank 2; alpha and beta are multiplied in.
RealLayer real_dense(const Graph& graph, const Node& node);

}  // namespace tilewright
