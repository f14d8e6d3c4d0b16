// Pools over a whole feature map get one form: GlobalAveragePool and GlobalMaxPool.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Replaces ReduceMean and ReduceMax over exactly the spatial axes, and AveragePool and MaxPool whose single
// window covers the input (and no padding that counts). A reduction that drops its axes is followed by a
// Flatten.
Graph normalize_pooling(Graph graph);

}  // namespace tilewright
