// A method of tuning: which points to measure next.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "tilewright/search/tuning/trial_log.h"
#include "tilewright/search/tuning/tuner.h"

namespace tilewright {

class Proposer {
 public:
  virtual ~Proposer() = default;
  // Up to `count` distinct, valid and wanted points, at least one where draw() finds one. `used` is the share
  // of the trials that is used up.
  virtual std::vector<KnobSpace::Point> propose(size_t count, double used) = 0;
  // The points that were proposed last are in the log.
  virtual void learn(std::span<const KnobSpace::Point> measured) = 0;
  virtual double model_error() const { return 0; }
};

// What every method is made from.
struct ProposerSetting {
  const TuningProblem& problem;
  const TuningOptions& options;
  TrialLog& log;
};

std::unique_ptr<Proposer> make_random_proposer(const ProposerSetting& setting);
std::unique_ptr<Proposer> make_annealing_proposer(const ProposerSetting& setting);
std::unique_ptr<Proposer> make_evolution_proposer(const ProposerSetting& setting);
std::unique_ptr<Proposer> make_guided_proposer(const ProposerSetting& setting);

// Fills `points` with random ones up to `count`.
void add_random(const ProposerSetting& setting, Random& random, size_t count,
                std::vector<KnobSpace::Point>& points);

}  // namespace tilewright
