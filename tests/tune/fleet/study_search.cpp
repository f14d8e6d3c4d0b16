#include "study_search.h"

#include "tilewright/search/tuning/tuner.h"

namespace tilewright {

void search_study(TuningProblem& problem, uint64_t seed) {
  TuningOptions options;
  options.method = TuningMethod::kEvolution;
  options.trials = 640;
  options.seed = seed;
  options.prune_by_bound = false;
  tune_problem(problem, options);
}

}  // namespace tilewright
