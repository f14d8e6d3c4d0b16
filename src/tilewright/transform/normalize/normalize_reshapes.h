// Operators that only rename axes get one form, Flatten or Reshape, and a chain of them becomes one.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Reshape, Squeeze, Unsqueeze and Flatten, and Transpose that moves nothing but axes of size 1, become
// Flatten where the result has rank 2 and keeps a leading product of the axes, else Reshape to a constant
// shape.
Graph normalize_reshapes(Graph graph);

}  // namespace tilewright
