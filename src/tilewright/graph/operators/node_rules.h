// Checks of a node alone, before shapes: is the operator supported, do arity and attributes fit?
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {

// The operator, or nullptr after reporting every problem of the node. Value ids are not checked, except that
// an absent input is kNoValue.
const Operator* check_node(const Node& node, Diagnostics& diagnostics);

// The inputs as inference functions need them. Ids must be valid.
OperatorContext context_of(const Graph& graph, const Node& node);

// The problem with a type and shape as such (negative or huge sizes), or empty.
std::string defect_of(const TypedShape& typed);

}  // namespace tilewright
