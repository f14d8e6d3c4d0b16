// Types and shapes of every value, from the graph inputs and constants forward.
#pragma once

#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {

// What to do with the type and shape that a node's output already has. A value as add_value("y",
// ElementType::kF32, {}) makes it counts as not declared, a negative size as unknown.
enum class Declared {
  kCheck,    // a contradiction is reported (readers: the file says so)
  kReplace,  // overwritten (passes that changed the graph)
};

// Fills type and shape of every node output, in order. Sizes that a model computes (Shape, Gather, Concat,
// ...) are evaluated on the way, up to 4096 elements each; nothing is ever allocated in proportion to a
// shape. All problems are collected, each with node, operator and what to do: operators that are not
// supported, wrong arity or attributes, inputs that do not fit, contradictions. Nodes after a failed one are
// skipped silently and keep what they had.
void infer_shapes(Graph& graph, Diagnostics& diagnostics, Declared declared = Declared::kCheck);

// The outputs of one node from its inputs' types, shapes and constants. Errors as above.
std::vector<TypedShape> infer_node(const Graph& graph, const Node& node);

}  // namespace tilewright
