#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Pools over a whole feature map get one form: ReduceMean and ReduceMax over exactly the spatial axes, and
// AveragePool and MaxPool whose single window covers the input (and no padding that counts), become
// GlobalAveragePool and GlobalMaxPool; a reduction that drops its axes is followed by a Flatten or Reshape.
Graph normalize_pooling(Graph graph);

}  // namespace tilewright
