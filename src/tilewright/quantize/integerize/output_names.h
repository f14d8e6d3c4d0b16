// The names of graph outputs, by which users ask for results.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Gives each output of `graph` the name of the same output of `source`; another value that has the name takes
// the output's old one. A value has one name: an output that is a graph input, or the same value as an output
// before it, becomes an Identity of that value.
// Precondition: as many outputs, and graph inputs with the names of the source.
void name_outputs(Graph& graph, const Graph& source);

}  // namespace tilewright
