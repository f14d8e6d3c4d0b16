#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Moves Transpose nodes towards the outputs - through element-wise and broadcasting operators, Concat, Split,
// Pad, Slice, Softmax and reductions - merges those that meet and drops those that cancel, as importers of
// NHWC models leave them around every layer. The result is taken only if its transposes move no more elements
// in no more nodes than before; else only the moves are made that cannot cost more one by one.
Graph cancel_transposes(Graph graph);

}  // namespace tilewright
