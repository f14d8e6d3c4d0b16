// Constant folding by the host's kernels: a folded value equals the value that would have been computed.
#pragma once

#include <cstdint>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct FoldLimits {
  int64_t result_bytes = int64_t{1} << 20;  // results up to this are always folded
  int64_t growth = 2;                       // and those up to this many times the bytes of their inputs
  int64_t weight_bytes = int64_t{1} << 31;  // and weights up to this
  int64_t total_bytes = int64_t{1} << 32;   // of all results together
};

// Runs every node whose inputs are all constants on the host, and replaces it by its result; Shape and Size
// of any value are constants too, since shapes are static. A result larger than the limits is folded only as
// weights: everything that reads it takes it as an operand of a Conv, ConvTranspose, Gemm, MatMul or
// BatchNormalization other than the data, directly or through operators that are folded themselves. Left
// alone: DequantizeLinear (which keeps the integers of quantised weights visible), operators outside the
// ONNX domain, operators that the host does not have, and nodes that write a graph output. Errors: whatever
// the host reports of a node, with the node named.
Graph fold_constants(Graph graph, const FoldLimits& limits = {});

}  // namespace tilewright
