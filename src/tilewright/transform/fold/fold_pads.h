// Pad nodes become the padding of the windows after them.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Folds a constant Pad of the spatial axes into the Conv, AveragePool or MaxPool that reads it, as explicit
// pads. Conv: padding value 0. AveragePool: value 0, where its own padding counts as elements or does not
// exist. MaxPool: value -infinity, or 0 over values that cannot be negative. Not when pads would be negative
// or reach the size of a pooling window, or the output size would change. Other readers keep the Pad.
Graph fold_pads(Graph graph);

}  // namespace tilewright
