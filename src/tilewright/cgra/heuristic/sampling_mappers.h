// Mappers without proof: random sampling, simulated annealing, evolution and list scheduling over the common
// decoder.
#pragma once

#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

// The best of independent samples. `options.limits` must limit evaluations (decoded placements) or seconds.
MappingResult map_random(const MappingProblem& problem, const GraphMapperOptions& options);
// Chains of search/annealing.h; starts from list scheduling if the budget is large enough to leave it.
MappingResult map_annealing(const MappingProblem& problem, const GraphMapperOptions& options);
// Islands of search/evolution.h.
MappingResult map_evolution(const MappingProblem& problem, const GraphMapperOptions& options);
// One placement: longest tail first, each node on the tile where it starts earliest (the nearest to its
// operands among equals). One evaluation.
MappingResult map_list(const MappingProblem& problem, const GraphMapperOptions& options);

}  // namespace tilewright::cgra
