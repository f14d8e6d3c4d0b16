// Movement of quantised activations in the forms that hardware has: one result per operator, channels that
// change places by their numbers, parts that belong to one Concat.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Of i8 values: a Split becomes a Slice per result; Reshape, Transpose and Reshape that exchange two factors
// of the channels (a channel shuffle) become a Gather of channels; of a value that several Concats along the
// channels put together, or one of them twice, all but the first take a copy (a QRequantize by 1).
Graph form_moves(Graph graph);

}  // namespace tilewright
