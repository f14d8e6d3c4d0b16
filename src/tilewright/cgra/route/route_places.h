// Routes for given places, or the proof that there are none.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"
#include "tilewright/cgra/route/routing_task.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/result.h"

namespace tilewright::cgra {

struct RoutingOptions {
  int negotiation_rounds = 30;         // of the quick try; 0: none
  const Deadline* deadline = nullptr;  // of both
  int64_t conflicts = -1;              // limit of the exact search in conflicts; -1: none
  int64_t core_conflicts = 10000;      // for each try to make the core smaller; 0: the solver's own core
};

struct RoutingResult {
  // kFeasible: `routes`. kInfeasible: no routes exist for these places. kStopped: a limit came first,
  // or values are under way too long to be counted (RoutingTask::countable).
  SearchStatus status = SearchStatus::kStopped;
  std::vector<Route> routes;    // per edge
  std::vector<int> core_edges;  // where infeasible: edges that cannot be routed together, ascending; smallest
                                // (no edge can be left out) unless core_conflicts ran out
  std::vector<int> core_nodes;  // their ends: any mapping with these places (or with all of them shifted by
                                // the same number of clocks) is unroutable
  bool negotiated = false;      // the quick try sufficed
};

// `mapping`: a place on the fabric for every node; routes are not looked at. Routes obey the routed tier of
// check.h; rules about places alone are not looked at (an edge that is read before it can arrive is an
// unroutable edge). Deterministic, unless `deadline` ends it.
RoutingResult route_places(const MappingProblem& problem, const GraphMapping& mapping,
                           const RoutingOptions& options = {});
// The same with the fabric compiled once for many calls.
RoutingResult route_places(const MappingProblem& problem, const RoutingFabric& fabric,
                           const GraphMapping& mapping, const RoutingOptions& options = {});

}  // namespace tilewright::cgra
