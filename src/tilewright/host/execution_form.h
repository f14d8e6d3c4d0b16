// The form of a graph that runs fastest on the CPU: what the executor runs when nobody watches the values in
// between.
//
//  - images lie with their channels last (N x spatial x C) from one layer to the next, so that convolutions
//  need no
//    reordering; what has no such form sees plain tensors, and Transpose nodes stand where the two meet.
//  - activations and additions are part of the convolution or matrix product before them.
//
// Nodes with another meaning than ONNX's are of the domain kHostDomain. Their tensors have channels last;
// else they are the ONNX operators of the same names:
//   Conv, ConvTranspose, MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool, InstanceNormalization, LRN
//   ChannelScale        x * factor[c] + offset[c] (inputs 1 and 2), and a Relu if that is its post-operation
//   Gemm, MatMul        plain matrices
//   Activation          one post-operation alone, in any layout
//   View                the same elements under another shape (attribute "shape")
// Conv, ConvTranspose, Gemm, MatMul and Activation have post-operations (post_operations.h); the tensors that
// those add are inputs after the operator's own three.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

inline constexpr const char* kHostDomain = "host";

// Computes the same values but for rounding. Values of `graph` keep their ids, and those that exist in it,
// their shapes.
Graph execution_form(const Graph& graph);

}  // namespace tilewright
