// The rules for every graph, whatever made it.
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// Reports every violation of: ids in range; names not empty and unique; each value from at most one source
// (graph input, constant, one output of one node) and from one at all where it is read; nodes in topological
// order; constants of the declared type and shape; operators, attributes and arity supported (kind
// unsupported for what the operator table does not have); types and shapes equal to what inference finds. If
// ids or sources are broken, shapes are not checked.
void verify(const Graph& graph, Diagnostics& diagnostics);

}  // namespace tilewright
