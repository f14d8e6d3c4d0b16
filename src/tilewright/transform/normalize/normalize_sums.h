// Sums and products get one form: Sum of several inputs becomes a chain of Add, Sub of an f32 constant
// becomes Add of its negation, and the constant operand of Add and Mul comes second.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

Graph normalize_sums(Graph graph);

}  // namespace tilewright
