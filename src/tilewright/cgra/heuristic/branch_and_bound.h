// Branch and bound over (tile, clock) of node after node: exact without a solver, for graphs of some ten to
// twenty nodes, and the second opinion on the satisfiability mapper.
#pragma once

#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

// kOptimal with proof when the tree is exhausted; kInfeasible only where no edge reaches back over iterations
// and waits are free (otherwise an empty tree proves nothing beyond the schedule lengths that were tried, and
// the status is kStopped). Starts from the list schedule. counts.nodes: expanded partial placements.
MappingResult map_branch_and_bound(const MappingProblem& problem, const GraphMapperOptions& options);

}  // namespace tilewright::cgra
