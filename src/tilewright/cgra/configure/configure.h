// From a routed mapping to the device configuration.
#pragma once

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

// `problem` has been verified; `mapping` has a route for every edge. The settings for a value's route are
// made once, however many consumers share it; what no consumer needs is not set. Errors: the mapping breaks a
// rule of the routed tier (internal: what a mapper returns is valid; the text lists the violations); an
// asynchronous load is read by an operation, stores come out of program order (invalid input); the distances
// in a flow that can wait have no common multiple up to 4,096 (unsupported).
Configuration configure(const MappingProblem& problem, const GraphMapping& mapping);

}  // namespace tilewright::cgra
