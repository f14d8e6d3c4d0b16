// What the two exact searches share: their limits, their time and the result so far.
#pragma once

#include <utility>

#include "tilewright/cgra/exact/placement_sat.h"
#include "tilewright/cgra/problem/mapper.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

class LimitedSearch {
 protected:
  explicit LimitedSearch(const GraphMapperOptions& options)
      : options_(options), deadline_(options.limits.seconds, options.limits.deadline) {}

  // The result of `body` in result_; if time ran out, the mapping found by then.
  template <typename Body>
  MappingResult result_of(Body&& body) {
    const bool done = finishes(deadline_, body);
    if (!done) result_.status = result_.mapping ? SearchStatus::kFeasible : SearchStatus::kStopped;
    result_.seconds = deadline_.seconds();
    result_.ending = deadline_.ending();
    return std::move(result_);
  }
  bool stopped() const {
    return deadline_.over() || result_.counts.evaluations >= options_.limits.evaluations;
  }
  SatLimits limits(int64_t conflicts) const { return {&deadline_, conflicts}; }

  const GraphMapperOptions& options_;
  Deadline deadline_;
  MappingResult result_;
};

}  // namespace tilewright::cgra
