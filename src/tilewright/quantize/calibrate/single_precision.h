// Half-precision models computed in single precision.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// The graph with every f16 and bf16 value in f32; graph inputs and outputs keep their types through Cast
// nodes.
Graph to_single_precision(Graph graph);

}  // namespace tilewright
