// Stages for a target: the cheapest way to build every layer so that none takes longer, at prices that rise
// for what the budget is short of (multiplicative weights, as in Plotkin, Shmoys and Tardos 1995). Each
// target takes microseconds, so that the fastest pace that a budget allows is found by bisection.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/pipeline/allocate/stage_options.h"

namespace tilewright::pipeline {

struct SweepProblem {
  const std::vector<std::vector<StageOption>>& options;  // by layer
  synthesis::Resources fixed;                            // beside the stages
  const Judge& judge;
  // Whether option `chosen.back()` goes together with those of the layers before.
  std::function<bool(const std::vector<int>& chosen)> meets;
  // How far a whole design exceeds the budget: at most 1 if it fits.
  std::function<double(const std::vector<int>& chosen)> pressure;
};

// Designs that fit, by target from the fastest that was found up to four times its cycles. Empty: none fits.
std::vector<std::vector<int>> target_sweep(const SweepProblem& problem, const Deadline* deadline);

}  // namespace tilewright::pipeline
