// The optimum of a tuning problem, proven: every valid point is either measured or excluded by its bound.
// Points are measured in the order of their bounds, so the first whose bound is no better than the best cost
// ends the search, and nothing is measured that some order could have avoided.
//
// It can be interrupted: with records (tune/records/recorded_problem.h) the next run finds the measured
// points and continues.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

struct ExhaustiveOptions {
  int threads = 1;  // of validity and bounds; no influence on the result
  int batch = 256;  // points measured at once
};

struct ExhaustiveResult {
  uint64_t combinations = 0, valid = 0;           // of the space
  uint64_t excluded = 0;                          // valid points that the bound leaves no chance
  uint64_t measured = 0, failed = 0, cached = 0;  // measured: all that were not excluded
  double seconds = 0, bound_seconds = 0;          // in all; until the bounds were known
  std::optional<Measurement> best;                // of equal costs the one with the smallest bound
  bool complete = false;                          // false: the watcher ended it
};

// `watcher` sees the state after every batch; returning false ends the search.
ExhaustiveResult exhaustive_search(TuningProblem& problem, const ExhaustiveOptions& options = {},
                                   const std::function<bool(const ExhaustiveResult&)>& watcher = {});

}  // namespace tilewright
