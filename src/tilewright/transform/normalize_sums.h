#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Sum of several inputs becomes a chain of Add; Sub of a float constant becomes Add of its negation; the
// constant operand of Add and Mul comes second.
Graph normalize_sums(Graph graph);

}  // namespace tilewright
