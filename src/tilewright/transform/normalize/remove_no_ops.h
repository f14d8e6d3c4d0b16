// Nodes whose output is their input are removed.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// These are Identity, Dropout in inference form, Cast to the same type, Reshape and its relatives, Expand
// and Resize to the same shape, Transpose that moves only axes of size 1 without changing the shape, Pad by
// nothing, Tile by 1, Concat and Split of one part, Slice of everything, Sum, Max, Min and Mean of one
// input, Add or Sub of 0, Mul or Div by 1, pools and reductions over single elements, Clip without bounds,
// and Relu of a value that cannot be negative. A node stays when a graph output would lose its name.
Graph remove_no_ops(Graph graph);

}  // namespace tilewright
