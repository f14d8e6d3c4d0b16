// Equal constants become one value, and nodes that compute the same become one node (common subexpressions).
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Constants are equal in type, shape and bits; nodes in operator, attributes and inputs. Nodes that write
// graph outputs stay, and so do layers: equal weights on one input are filler in a model without its own,
// and its work should be counted.
Graph merge_duplicates(Graph graph);

}  // namespace tilewright
