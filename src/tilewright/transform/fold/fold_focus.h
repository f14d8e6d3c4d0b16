// Strided slices of an image put together as channels (the "focus" of detectors), and SpaceToDepth, folded
// into the convolution behind.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// A Conv that only reads a Concat (along the channels) of slices [i::r, j::r] of one value, or a
// SpaceToDepth, becomes a Conv of that value with a kernel and a stride r times as large: the same products
// and sums. Fires where weights are f32 constants of one group without dilation, r divides the image, and
// nothing else reads what lies between.
Graph fold_focus(Graph graph);

}  // namespace tilewright
