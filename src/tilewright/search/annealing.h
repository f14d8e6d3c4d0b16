// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983): one chain per lane. The start temperature is
// measured (that at which an average worsening step is taken with a given probability), cooling is geometric
// in the share of the budget that is used, and reheats restart from the best: a chain's own for even lanes,
// that of all chains for odd ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/search/space.h"

namespace tilewright {

template <typename Solution, typename Value>
struct AnnealingOptions : SamplingOptions<Solution, Value> {
  double start_acceptance = 0.3;  // of an average worsening step at the start temperature, between 0 and 1
  double end_ratio = 1e-4;        // temperature at the end of a cooling, as a share of that at its start
  int reheats = 3;                // each starts at half the temperature of the one before
  int calibration_steps = 64;     // neighbours of the start that measure it; fewer in a tiny budget
  // Steps are judged by the ratio of two (positive) values, not by their difference: for spaces whose costs
  // span orders of magnitude.
  bool relative = false;

  void verify() const {
    SamplingOptions<Solution, Value>::verify();
    Diagnostics problems;
    const auto refuse = [&](bool bad, const char* field, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, "annealing options", field, message);
    };
    refuse(!(start_acceptance > 0 && start_acceptance < 1), "start_acceptance", "must be between 0 and 1");
    refuse(!(end_ratio > 0 && end_ratio <= 1), "end_ratio", "must be positive and at most 1");
    refuse(reheats < 0, "reheats", "must not be negative");
    refuse(calibration_steps <= 0, "calibration_steps", "must be positive");
    problems.raise_if_any();
  }
};

template <LocalSpace S>
class AnnealingChain {
 public:
  using Solution = typename S::Solution;
  using Value = typename S::Value;
  using Options = AnnealingOptions<Solution, Value>;

  AnnealingChain(const S& space, const Options& options, uint64_t seed, bool sociable)
      : space_(&space), options_(&options), random_(seed), sociable_(sociable), current_(options.start) {}

  void advance(LaneEvaluator<S>& evaluator) {
    do {
      if (!current_) {
        sample(evaluator);
      } else if (calibrated_ < options_->calibration_steps && evaluator.progress() < 0.1) {
        calibrate(evaluator);
      } else {
        move(evaluator);
      }
    } while (evaluator.more());
  }
  // The best of all chains, given between rounds.
  void hear(const std::optional<Scored<Solution, Value>>& best) {
    if (sociable_) heard_ = best;
  }

 private:
  void sample(LaneEvaluator<S>& evaluator) {
    Solution solution = space_->sample(random_);
    if (const auto value = evaluator.evaluate(solution))
      current_ = Scored<Solution, Value>{std::move(solution), *value};
  }

  // How much worse `to` is than `from`.
  double worsening(const Value& from, const Value& to) const {
    return options_->relative ? std::log(as_double(to) / as_double(from)) : as_double(to) - as_double(from);
  }

  void calibrate(LaneEvaluator<S>& evaluator) {
    const auto value = evaluator.evaluate(space_->neighbour(current_->solution, random_));
    const double step = value ? std::abs(worsening(current_->value, *value)) : 0;
    ++calibrated_;
    if (!(step > 0 && std::isfinite(step))) return;
    step_sum_ += step;
    ++steps_;
    start_temperature_ = -step_sum_ / double(steps_) / std::log(options_->start_acceptance);
  }

  void move(LaneEvaluator<S>& evaluator) {
    if (moves_++ % 32 == 0) set_temperature(evaluator);
    Solution solution = space_->neighbour(current_->solution, random_);
    const auto value = evaluator.evaluate(solution);
    if (!value) return;
    if (current_->value < *value) {
      const double step = worsening(current_->value, *value);
      if (step > 0 && random_.uniform() >= std::exp(-step / temperature_)) return;
    }
    current_->solution = std::move(solution);
    current_->value = *value;
  }

  void set_temperature(const LaneEvaluator<S>& evaluator) {
    const double cycles = evaluator.progress() * (options_->reheats + 1);
    const int cycle = std::min(int(cycles), options_->reheats);
    temperature_ =
        start_temperature_ * std::pow(0.5, cycle) * std::pow(options_->end_ratio, cycles - double(cycle));
    if (cycle == cycle_) return;
    cycle_ = cycle;
    if (evaluator.best() && evaluator.best()->value < current_->value) current_ = evaluator.best();
    if (heard_ && heard_->value < current_->value) current_ = heard_;
  }

  const S* space_;
  const Options* options_;
  Random random_;
  bool sociable_;
  std::optional<Scored<Solution, Value>> current_;
  std::optional<Scored<Solution, Value>> heard_;
  int calibrated_ = 0;
  int64_t steps_ = 0;
  double step_sum_ = 0;
  double start_temperature_ = 1;
  double temperature_ = 1;
  int cycle_ = 0;
  int64_t moves_ = 0;
};

// The best solution that the chains meet. Throws an Error (invalid input) for options out of range.
template <LocalSpace S>
SamplingResultOf<S> anneal(const S& space,
                           const AnnealingOptions<typename S::Solution, typename S::Value>& options) {
  options.verify();
  std::vector<AnnealingChain<S>> chains;
  for (uint64_t seed : lane_seeds(options.seed, options.lanes)) {
    chains.emplace_back(space, options, seed, chains.size() % 2 == 1);
  }
  return SamplingRun<S>(space, options)
      .run([&](int64_t i, LaneEvaluator<S>& evaluator) { chains[size_t(i)].advance(evaluator); },
           [&](const auto& best) {
             for (AnnealingChain<S>& chain : chains) chain.hear(best);
           });
}

}  // namespace tilewright
