// The opset of a file that is written: 17, whose names and attributes the graph has, or 21, the first with
// quantisation to other integers than those of 8 bits.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

inline constexpr int kUsualOpset = 17, kNewerOpset = 21;

// kNewerOpset where a value is of type i4 or u4, or a quantiser has integers of 16 bits or scales in half
// precision; else kUsualOpset. Errors (unsupported): a quantiser of integers that no opset quantises to.
int opset_to_write(const Graph& graph);

// A graph of opset 17 in the terms of kNewerOpset: the axes of reductions are constant inputs, Split says how
// many parts it makes. All other operators that a graph has mean the same in both.
Graph in_newer_opset(Graph graph);

}  // namespace tilewright
