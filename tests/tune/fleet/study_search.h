// The search of the tuning runs that are killed.
#pragma once

#include <cstdint>

#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

// The same trials in the same order for the same seed.
void search_study(TuningProblem& problem, uint64_t seed);

}  // namespace tilewright
