// What the writer produces, held against the ONNX library.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// The library's checker accepts the written graph, and its shape inference finds the shapes that were
// written.
void expect_accepted_by_checker(const Graph& graph);

}  // namespace tilewright
