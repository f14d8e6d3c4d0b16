// Search with expensive measurements: batches of points are chosen by a method, measured, and learned from,
// until the trials are used up. The inner loop of Algorithm 1 of the tuning paper (paper 002, lines 4 to 9).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/search/models/cost_model.h"
#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

enum class TuningMethod {
  kRandom,
  kAnnealing,  // parallel chains that measure every step
  kEvolution,
  kGuided,  // annealing on the surface of a cost model, then measurement of the best and of a few at random
};

struct TuningOptions {
  TuningMethod method = TuningMethod::kGuided;
  int64_t trials = 1000;  // distinct valid points, cached ones included
  int batch = 32;
  uint64_t seed = 1;
  int threads = 1;         // of feature extraction and the model's surface; no influence on the result
  double epsilon = 0.1;    // share of a guided batch that is drawn at random
  double diversity = 0.1;  // of a guided batch: bonus for a knob value that is new in the batch, 0 to 1
  double exploration = 0;  // of a guided batch: deviations of the model that count in favour of a point
  // A guided run whose model knows nothing yet starts on the surface of the bound, else with random points.
  bool start_on_bound = true;
  int chains = 64;                      // of annealing on the model's surface
  int chain_steps = 40;                 // of each, before every batch
  bool prune_by_bound = true;           // points that cannot beat the best so far are not measured
  std::vector<KnobSpace::Point> start;  // measured first (the default schedule, say)
  CostModel* model = nullptr;           // of kGuided; learns during the run, may be trained before
  double stop_at = 0;                   // ends when the best is at most this: a layer bound; 0: never
  const Deadline* deadline = nullptr;   // also ends it; the problem may then leave points out
};

struct TuningProgress {
  int64_t trials = 0, failed = 0, cached = 0, pruned = 0;
  double seconds = 0;
  std::optional<KnobSpace::Point> best;
  double best_cost = 0;
  double model_error = 0;  // share of pairs of the last batch that the model ranked wrongly; 0: no model
};

struct TuningResult {
  TuningProgress end;
  std::vector<Measurement> trials;  // in the order measured
  bool exhausted = false;           // every valid point that the bound does not exclude has been measured
  // Best cost after trial i (0-based); points before the first success have +infinity.
  std::vector<double> best_so_far() const;
};

// `watcher` sees the progress after every batch; returning false ends the run. Errors (invalid input):
// options out of range, kGuided without a model, an invalid start; (infeasible) no valid point could be
// drawn, unless the deadline left no time for it.
TuningResult tune_problem(TuningProblem& problem, const TuningOptions& options,
                          const std::function<bool(const TuningProgress&)>& watcher = {});

}  // namespace tilewright
