// The exact mapper: the shortest schedule with its proof, or the reason why none
// exists, by satisfiability (CaDiCaL).
#pragma once

#include <vector>

#include "tilewright/cgra/exact/constraints.h"
#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

// Bounds and counting arguments, a first mapping (list scheduling, else any solution), then questions "is
// there a mapping of at most h clocks" from below, and from above if those take long. Anytime: at a limit it
// returns the best mapping and the largest proven bound (kFeasible), or the bound alone (kStopped).
//
// limits.seconds as usual; limits.evaluations counts the solver's calls. `seed` seeds CaDiCaL; one thread.
// With problem.rules.routed: map_exact_routed (routed_mapper.h).
// Errors: problem.verify's.
MappingResult map_exact(const MappingProblem& problem, const GraphMapperOptions& options);

// The same for constraints that need not be those of a whole problem: `start` (empty: none) are places that
// keep them, the makespan is constraints.makespan(). No conflict is given.
MappingResult solve_exact(const PlacementConstraints& constraints, const std::vector<Place>& start,
                          const GraphMapperOptions& options);

}  // namespace tilewright::cgra
