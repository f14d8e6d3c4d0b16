// Tables into the output stage of what makes their input, where hardware passes outputs through them at no
// cost.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Each QLookup with a constant table becomes the table of the integer operator that makes its input, where
// nothing else reads that; all others become a QRequantize that only has a table.
Graph fold_lookups(Graph graph);

// The inverse, for hardware without a table: every table becomes a QLookup behind its operator.
Graph split_lookups(Graph graph);

}  // namespace tilewright
