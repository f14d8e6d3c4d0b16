// A graph without the operators that the opset of a written file does not have.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// RMSNormalization, of opset 23.
bool has_later_operators(const Graph& graph);

// The same as primitive operators, which runtimes of any age have: the product with itself, its mean, the
// root, a division and a product; halves in f32 up to the division, as ONNX defines it. Readers give these
// primitives back.
Graph spelled_out(Graph graph);

}  // namespace tilewright
