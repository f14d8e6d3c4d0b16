#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Removes nodes that hand their input on: Identity, Dropout in inference form, Cast to the same type, Reshape
// and its relatives to the same shape, Transpose that moves only axes of size 1 without changing the shape,
// Pad by nothing, Concat and Split of one part, Slice of everything, Sum, Max, Min and Mean of one input,
// Add or Sub of 0, Mul or Div by 1, pools and means over single elements, Clip without bounds, Resize to the
// same size, and Relu of a value that cannot be negative. A node stays when a graph output would lose its
// name.
Graph remove_no_ops(Graph graph);

}  // namespace tilewright
