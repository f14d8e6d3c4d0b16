// The order of stores in a mapping. Stores to one array reach memory in the order of the clocks at which they
// start; program order is by thread, then by the order of the graph. Mappers do not consider it: code that
// uses a mapper's result calls these functions.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {

// Stores that may write the same element and do not reach it in program order (rule kStoreOrder). The graph
// has been verified: flows of stores that may meet keep fixed distances in time. `mapping` has a place for
// every node.
std::vector<Violation> check_store_order(const MappingProblem& problem, const GraphMapping& mapping);

// Moves stores to later clocks on their tiles until check_store_order finds nothing, and drops the routes if
// one has moved. `mapping` is valid by check_mapping and stays so, except for routes. False, with `mapping`
// unchanged, if no such clocks were found.
bool order_stores(const MappingProblem& problem, GraphMapping& mapping);

}  // namespace tilewright::cgra
