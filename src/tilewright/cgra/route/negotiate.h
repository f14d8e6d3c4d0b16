// Routing by negotiated congestion: fast, without proof.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cgra/route/routing_task.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

// A route per edge that keeps every limit, or nothing after `rounds` rounds. Values start no later than they
// are read, within reach, and are countable. Throws Expired when the time of `deadline`, if any, is over.
std::optional<std::vector<Route>> negotiate_routes(const RoutingTask& task, int rounds,
                                                   const Deadline* deadline = nullptr);

}  // namespace tilewright::cgra
