// A softmax into the product of two activations that makes its rows, so that scores of attention need not
// leave the scratchpads.
#pragma once

#include <functional>

#include "tilewright/graph/graph.h"

namespace tilewright {

// Each QSoftmax with a constant table becomes part of the QMatMul that makes its input, where nothing else
// reads that, both give 8-bit integers, and `takes` says of the product that it may have one.
// A causal softmax stays apart: the softmax of a product sees whole rows.
Graph fold_softmax(Graph graph, const std::function<bool(const Graph&, const Node&)>& takes);

}  // namespace tilewright
