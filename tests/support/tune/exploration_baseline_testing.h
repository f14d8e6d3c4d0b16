// The published flow with which exploration is compared: the area model removes what does not fit, the
// candidates with the highest peak rate stay, each gets default schedules, and successive halving gives the
// better half of the rest twice the trials, until one is left.
#pragma once

#include "tilewright/tune/explore/exploration.h"

namespace tilewright::tune {

struct BaselineOptions {
  size_t kept = 32;     // by peak rate
  int64_t trials = 32;  // per layer, of the last one
};

struct BaselineResult {
  KnobSpace::Point best = 0;
  double best_s = 0;
  int64_t candidates = 0, trials = 0;
};

// Errors (infeasible): none of the kept candidates can run the network.
BaselineResult explore_baseline(const ExplorationBackend& backend, const Screening& screening,
                                JobExecutor& executor, const BaselineOptions& options);

}  // namespace tilewright::tune
