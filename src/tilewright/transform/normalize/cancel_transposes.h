// Importers of NHWC models leave Transposes around every layer; here they move towards the outputs until
// they meet and cancel.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Moves Transpose nodes through element-wise and broadcasting operators, Concat, Split, Pad, Slice, Softmax
// and reductions, merges those that meet and drops those that cancel. The result is taken only if its
// transposes move no more elements in no more nodes than before; else only the moves are made that cannot
// cost more one by one.
Graph cancel_transposes(Graph graph);

}  // namespace tilewright
