// Bound first, since annealing can use all the time that is left.
#include "tilewright/cgra/exact/map_large.h"

#include <algorithm>

#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/gap_bound.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

MappingResult map_large(const MappingProblem& problem, const GraphMapperOptions& options) {
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any();
  const Deadline clock(options.limits.seconds, options.limits.deadline);
  GapBoundOptions bounding{.deadline = &clock};
  if (clock.limited()) bounding.seconds = clock.limit() / 3;
  GapBound bound;
  finishes(clock, [&] { bound = gap_bound(problem, map_exact, bounding); });
  GraphMapperOptions rest = options;
  rest.limits.seconds = Deadline::kNoLimit;
  rest.limits.deadline = &clock;
  MappingResult result = map_annealing(problem, rest);
  result.lower_bound = std::max(result.lower_bound, bound.makespan);
  if (result.mapping && result.makespan == result.lower_bound) result.status = SearchStatus::kOptimal;
  result.seconds = clock.seconds();
  result.ending = clock.ending();
  return result;
}

}  // namespace tilewright::cgra
