// From a routed mapping to the device configuration.
#pragma once

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/mapping.h"
#include "tilewright/cgra/problem.h"

namespace tilewright::cgra {

// `mapping` has a route for every edge. What a value needs on its way is set once, however many consumers
// share it; what no consumer needs is not set. Errors: the mapping breaks a rule of the routed tier
// (internal: what a mapper returns is valid; the text lists the violations); the graph asks for what the
// machine cannot do (invalid input, all at once): a variable that is filled by its own flow or by several
// nodes, an asynchronous load that is read by an operation, variables that find no room in the tile memories.
Configuration configure(const MappingProblem& problem, const Mapping& mapping);

}  // namespace tilewright::cgra
