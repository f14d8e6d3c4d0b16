#include "tilewright/cgra/mapper.h"

namespace tilewright::cgra {

void drop_if_invalid(const MappingProblem& problem, MappingResult& result) {
  if (!result.mapping || check_mapping(problem, *result.mapping).empty()) return;
  result.mapping.reset();
  result.makespan = 0;
  result.status = SearchStatus::kStopped;
}

}  // namespace tilewright::cgra
