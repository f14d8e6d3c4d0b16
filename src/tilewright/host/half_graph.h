// Running f16 and bf16 graphs in f32 throughout.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

bool has_half_values(const Graph& graph);

// The same graph with f32 in place of f16 and bf16: values, constants, tensor attributes and the targets of
// Cast. Nothing is rounded to half between nodes, which is both faster and closer to what other runtimes'
// CPU backends compute (ONNX Runtime drops the casts between neighbouring nodes).
Graph with_half_as_float(Graph graph);

}  // namespace tilewright
