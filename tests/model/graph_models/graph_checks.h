// What the graph module owes to a whole network.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// The verifier passes it, shape inference from nothing finds the same shapes, and the text form gives back
// the same bits.
void expect_sound(const Graph& graph);

// 1500 damaged copies give diagnostics and nothing else; at least `least` of them give some.
void expect_diagnostics_only(const Graph& sound, int least);

}  // namespace tilewright
