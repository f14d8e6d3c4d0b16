// The last check of mappers whose decoder does not know every rule: a mapping that the checker refuses is
// dropped, and the search counts as stopped.
#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

void drop_if_invalid(const MappingProblem& problem, MappingResult& result) {
  if (!result.mapping || check_mapping(problem, *result.mapping).empty()) return;
  result.mapping.reset();
  result.makespan = 0;
  result.status = SearchStatus::kStopped;
}

}  // namespace tilewright::cgra
