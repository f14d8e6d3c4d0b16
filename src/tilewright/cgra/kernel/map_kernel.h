// Loop kernels onto arrays whose links are crossed within the clock (mesh, torus, HyCUBE): the least
// initiation interval first, then a short schedule, places and routes at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/kernel/minimum_ii.h"
#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/result.h"

namespace tilewright::cgra {

struct KernelOptions {
  double seconds = 60;
  const Deadline* deadline = nullptr;  // of the work that this is a part of
  uint64_t seed = 0;
  int most_ii = 0;       // 0: the fabric's max_ii
  bool shortest = true;  // after the least II, shorten the schedule (or prove that it is shortest)
};

// An II at which no mapping exists, whatever its schedule's length, and why.
struct RefutedIi {
  int ii = 0;
  std::string argument;
};

struct KernelResult {
  // kOptimal: mapped at the minimum II. kFeasible: mapped, a smaller II is undecided. kInfeasible: every II
  // up to most_ii is refuted. kStopped: out of time before any mapping.
  SearchStatus status = SearchStatus::kStopped;
  MinimumIi bound;
  int least_ii = 0;                     // no mapping has a smaller II: `bound`, and what was refuted above it
  std::vector<RefutedIi> refuted;       // ascending, from bound.value(): least_ii - 1 is the last
  std::optional<GraphMapping> mapping;  // passes check_mapping in the routed tier
  int makespan = 0, least_makespan = 0;  // of `mapping`; no mapping at its II is shorter than the second
  SearchCounts counts;  // evaluations: formulas solved; nodes: the solver's conflicts allowed
  double seconds = 0;
  Ending ending = Ending::kNone;  // what stopped it, where time, memory or a request did
};

// A formula that would leave the deadline's memory limit is not built, and what it would tell stays open.
//
// problem.ii is not looked at; the routed tier is asked for whatever problem.rules.routed says. One thread.
// The same result on any machine unless the time limit ends it. Errors: problem.verify's; links that take
// clocks, variables that do not all fit one tile's memories (unsupported).
KernelResult map_kernel(MappingProblem problem, const KernelOptions& options);

}  // namespace tilewright::cgra
