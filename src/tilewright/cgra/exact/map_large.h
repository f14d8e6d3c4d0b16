// Graphs too large for exact mapping: the best mapping within a given time, and how far it can be from the
// optimum.
#pragma once

#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

// gap_bound for a third of the time, then annealing from the list schedule; `lower_bound` holds for every
// mapping at this II. Seconds or evaluations (of the annealing) must be limited; the bound takes at most 20 s
// where seconds are not.
MappingResult map_large(const MappingProblem& problem, const GraphMapperOptions& options);

}  // namespace tilewright::cgra
