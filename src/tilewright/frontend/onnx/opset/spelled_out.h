// A graph without the operators that the opset of a written file does not have.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// RMSNormalization and RotaryEmbedding, of opset 23.
bool has_later_operators(const Graph& graph);

// The same as primitive operators, which runtimes of any age have. A norm: the product with itself, its mean,
// the root, a division and a product; halves in f32 up to the division, as ONNX defines it. A rotary
// embedding: two Slices, four products, a difference, a sum, a Concat. Readers give these primitives back.
Graph spelled_out(Graph graph);

}  // namespace tilewright
