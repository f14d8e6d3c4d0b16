#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Constants of the same type, shape and bits become one value, and nodes that apply the same operator with
// the same attributes to the same values become one node (common subexpressions). Nodes that write graph
// outputs stay, and so do layers: equal weights on one input are filler in a model without its own, and its
// work should be counted.
Graph merge_duplicates(Graph graph);

}  // namespace tilewright
