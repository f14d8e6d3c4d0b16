// Climbs one after the other (Wales and Doye 1997; iterated local search): each goes on until nothing better
// has turned up for a while, and the next begins at the best end so far, some random steps away, or anywhere.
// For spaces whose valleys lie apart, where a single walk stays in the first one that it meets.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/search/space.h"

namespace tilewright {

template <typename Solution, typename Value>
struct HoppingOptions : SamplingOptions<Solution, Value> {
  int patience = 150;         // steps of a climb without anything better, after which it ends
  int kick = 4;               // steps from the best end to the start of the next climb, at most
  double fresh_chance = 0.3;  // of a climb that begins anywhere

  void verify() const {
    SamplingOptions<Solution, Value>::verify();
    Diagnostics problems;
    const auto refuse = [&](bool bad, const char* field, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, "hopping options", field, message);
    };
    refuse(patience <= 0, "patience", "must be positive");
    refuse(kick <= 0, "kick", "must be positive");
    refuse(!(fresh_chance >= 0 && fresh_chance <= 1), "fresh_chance", "must be between 0 and 1");
    problems.raise_if_any();
  }
};

template <LocalSpace S>
class HoppingLane {
 public:
  using Solution = typename S::Solution;
  using Value = typename S::Value;
  using Options = HoppingOptions<Solution, Value>;

  HoppingLane(const S& space, const Options& options, uint64_t seed)
      : space_(&space), options_(&options), random_(seed), home_(options.start) {}

  void advance(LaneEvaluator<S>& evaluator) {
    do {
      at_ ? climb(evaluator) : begin(evaluator);
    } while (evaluator.more());
  }

 private:
  void begin(LaneEvaluator<S>& evaluator) {
    Solution start = home_ && !random_.chance(options_->fresh_chance) ? kicked() : space_->sample(random_);
    stale_ = 0;
    if (const auto value = evaluator.evaluate(start)) at_ = Scored<Solution, Value>{std::move(start), *value};
  }

  Solution kicked() {
    Solution solution = home_->solution;
    for (int64_t steps = random_.between(1, options_->kick); steps > 0; --steps)
      solution = space_->neighbour(solution, random_);
    return solution;
  }

  void climb(LaneEvaluator<S>& evaluator) {
    Solution next = space_->neighbour(at_->solution, random_);
    const auto value = evaluator.evaluate(next);
    ++stale_;
    if (value && !(at_->value < *value)) {
      if (*value < at_->value) stale_ = 0;
      at_ = Scored<Solution, Value>{std::move(next), *value};
    }
    if (stale_ < options_->patience) return;
    if (!home_ || at_->value < home_->value) home_ = std::move(at_);
    at_.reset();
  }

  const S* space_;
  const Options* options_;
  Random random_;
  std::optional<Scored<Solution, Value>> home_;  // the best end of a climb
  std::optional<Scored<Solution, Value>> at_;    // of the climb under way
  int stale_ = 0;
};

// The best solution that any climb met. Throws an Error (invalid input) for options out of range.
template <LocalSpace S>
SamplingResultOf<S> hop_basins(const S& space,
                               const HoppingOptions<typename S::Solution, typename S::Value>& options) {
  options.verify();
  std::vector<HoppingLane<S>> lanes;
  for (uint64_t seed : lane_seeds(options.seed, options.lanes)) lanes.emplace_back(space, options, seed);
  return SamplingRun<S>(space, options)
      .run([&](int64_t i, LaneEvaluator<S>& evaluator) { lanes[size_t(i)].advance(evaluator); },
           [](const auto&) {});
}

}  // namespace tilewright
