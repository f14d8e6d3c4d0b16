// The integer form of a network against the network in QDQ form, layer by layer.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Half up against half even, and float sums against exact ones: a layer may differ by one step, in few
// places, where both compute it from the same inputs. `source`: in QDQ form, one input.
void expect_layers_of_float(const Graph& source, const Tensor& input);

}  // namespace tilewright
