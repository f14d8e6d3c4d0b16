// f32 activations that only bound their input get one form, so that a layer is followed by at most one of
// them (ReLU6 written as Min of Max included).
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Clip, Max and Min with a scalar constant become Relu where the bounds are 0 and none, else Clip; two in a
// row, where nothing else reads the value between, become one.
Graph merge_clips(Graph graph);

}  // namespace tilewright
