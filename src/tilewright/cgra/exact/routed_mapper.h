// The exact mapper with routes: the shortest schedule in which all values are routed, with its proof.
#pragma once

#include <optional>

#include "tilewright/cgra/problem/mapper.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {

// The optimum of the placement tier is a lower bound (map_exact), and often its mapping can be routed
// unchanged. Then it asks "is there a routed mapping of at most h clocks" from that bound on. Anytime: at a
// limit it returns the best mapping and the largest proven bound (kFeasible), or the bound alone (kStopped).
// What the placement tier proves impossible is impossible. A problem that is impossible only because of
// routing is reported as kInfeasible once the bound passes longest_routed_makespan(), which is feasible only
// for small problems.
//
// limits.seconds as usual; limits.evaluations counts the solver's calls (map_exact's included). `seed` seeds
// the solver; one thread. problem.rules.routed is taken as set. Errors: problem.verify's.
MappingResult map_exact_routed(const MappingProblem& problem, const GraphMapperOptions& options);

struct RoutedAnswer {
  Satisfiable exists = Satisfiable::kUnknown;
  std::optional<GraphMapping> mapping;  // where kYes
};
// Whether a routed mapping of at most `horizon_cycles` exists. `problem` has been verified.
RoutedAnswer find_routed_mapping(const MappingProblem& problem, int horizon_cycles,
                                 const SatLimits& limits = {});

// If any routed mapping exists, one of at most this many clocks exists: a value's life is bounded by the
// space in all links and registers in one II, which bounds the gap of every edge, and parts of the graph
// without edges between them can be shifted by multiples of II to start in the first.
int64_t longest_routed_makespan(const MappingProblem& problem);

}  // namespace tilewright::cgra
