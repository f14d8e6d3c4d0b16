// Names and checks of what searches share.
#include "tilewright/search/result.h"

#include "tilewright/base/error.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

const char* search_status_name(SearchStatus status) {
  switch (status) {
    case SearchStatus::kOptimal:
      return "optimal";
    case SearchStatus::kFeasible:
      return "feasible";
    case SearchStatus::kInfeasible:
      return "infeasible";
    case SearchStatus::kStopped:
      return "stopped";
  }
  return "stopped";
}

bool SearchLimits::timed() const {
  return seconds < Deadline::kNoLimit || (deadline != nullptr && deadline->limited());
}

void SearchLimits::verify() const {
  Diagnostics problems;
  const auto refuse = [&](const char* field) {
    problems.error(ErrorKind::kInvalidInput, "search limits", field, "must be positive",
                   "leave it out for no limit");
  };
  if (nodes <= 0) refuse("nodes");
  if (evaluations <= 0) refuse("evaluations");
  if (!(seconds > 0)) refuse("seconds");
  problems.raise_if_any();
}

SearchCounts& SearchCounts::operator+=(const SearchCounts& other) {
  nodes += other.nodes;
  pruned += other.pruned;
  evaluations += other.evaluations;
  valid += other.valid;
  rounds += other.rounds;
  return *this;
}

}  // namespace tilewright
