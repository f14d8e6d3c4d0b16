#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Gives the operators that only rename axes one form: Reshape, Squeeze, Unsqueeze and Flatten, and Transpose
// that moves nothing but axes of size 1, become Flatten where the result has rank 2 and keeps a leading
// product of the axes, else Reshape to a constant shape. A chain of them becomes one.
Graph normalize_reshapes(Graph graph);

}  // namespace tilewright
