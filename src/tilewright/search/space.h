// What the sampling searches (random, annealing, evolution) work on, and the loop they
// share: lanes of their own random stream each, advanced in rounds (rounds.h).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/objective.h"
#include "tilewright/search/result.h"
#include "tilewright/search/rounds.h"

namespace tilewright {

// sample(random) gives any solution; cost(solution) its value, or nothing if it breaks a rule. Both are
// called by several threads at once. A cost must be equal to itself (no NaN).
template <typename S>
concept Space = SearchValue<typename S::Value> && std::equality_comparable<typename S::Solution> &&
    std::copyable<typename S::Solution> &&
    requires(const S& space, const typename S::Solution& a, Random& random) {
  { space.sample(random) } -> std::convertible_to<typename S::Solution>;
  { space.cost(a) } -> std::convertible_to<std::optional<typename S::Value>>;
};

// neighbour(a, random): `a` with a small random change.
template <typename S>
concept LocalSpace = Space<S> && requires(const S& space, const typename S::Solution& a, Random& random) {
  { space.neighbour(a, random) } -> std::convertible_to<typename S::Solution>;
};

// crossover(a, b, random): a random mixture.
template <typename S>
concept EvolvableSpace = LocalSpace<S> &&
    requires(const S& space, const typename S::Solution& a, Random& random) {
  { space.crossover(a, a, random) } -> std::convertible_to<typename S::Solution>;
};

template <typename Solution, typename Value>
struct SamplingOptions {
  int threads = 1;
  uint64_t seed = 1;
  SearchLimits limits;  // evaluations or seconds must be limited
  std::optional<Scored<Solution, Value>> start;
  // A known lower bound: the gap is reported against it, and a solution that reaches it is optimal and ends
  // the search.
  std::optional<Value> bound;
  int lanes = 8;           // unlike the threads, lanes and quantum are part of the result
  int64_t quantum = 4096;  // evaluations of a lane in a round, at most
  SearchWatcher<Solution, Value> watcher;

  // Throws an Error (invalid input) with every problem.
  void verify() const {
    limits.verify();
    Diagnostics problems;
    const auto refuse = [&](bool bad, const char* field, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, "search options", field, message);
    };
    refuse(threads <= 0, "threads", "must be positive");
    refuse(lanes <= 0, "lanes", "must be positive");
    refuse(quantum <= 0, "quantum", "must be positive");
    refuse(limits.evaluations == SearchLimits::kNone && !limits.timed(), "limits",
           "a sampling search needs a limit in evaluations or seconds");
    problems.raise_if_any();
  }
};

template <Space S>
using SamplingOptionsOf = SamplingOptions<typename S::Solution, typename S::Value>;
template <Space S>
using SamplingResultOf = SearchResult<typename S::Solution, typename S::Value>;

// Evaluates the solutions of one lane, counts them and remembers the best.
template <Space S>
class alignas(64) LaneEvaluator {
 public:
  using Solution = typename S::Solution;
  using Value = typename S::Value;

  LaneEvaluator(const S& space, const SamplingOptionsOf<S>& options, const Deadline& deadline)
      : space_(&space), deadline_(&deadline), watch_(deadline), budget_(options.limits.evaluations) {
    if (budget_ != SearchLimits::kNone) budget_ = std::max<int64_t>(1, budget_ / options.lanes);
  }

  // Whether this round leaves time for another evaluation. To be asked before each.
  bool more() { return left_ > 0 && !watch_.expired(); }
  std::optional<Value> evaluate(const Solution& solution) {
    --left_;
    ++counts_.evaluations;
    const std::optional<Value> value = space_->cost(solution);
    if (!value) return value;
    TILEWRIGHT_CHECK(*value == *value, "a cost that does not equal itself");
    ++counts_.valid;
    if (!best_ || *value < best_->value) {
      best_ = Scored<Solution, Value>{solution, *value};
      best_seconds_ = deadline_->seconds();
    }
    return value;
  }
  // The share of the lane's evaluations or of the time that is used, 0 to 1.
  double progress() const {
    const double evaluations =
        budget_ == SearchLimits::kNone ? 0 : double(counts_.evaluations) / double(budget_);
    return std::min(1.0, std::max(evaluations, watch_.used()));
  }
  const SearchCounts& counts() const { return counts_; }
  const std::optional<Scored<Solution, Value>>& best() const { return best_; }
  double best_seconds() const { return best_seconds_; }
  void begin_round(int64_t evaluations) { left_ = evaluations; }

 private:
  const S* space_;
  const Deadline* deadline_;
  DeadlineWatch watch_;
  int64_t budget_;
  int64_t left_ = 0;
  SearchCounts counts_;
  std::optional<Scored<Solution, Value>> best_;
  double best_seconds_ = 0;
};

// The seeds of independent random streams.
inline std::vector<uint64_t> lane_seeds(uint64_t seed, int lanes) {
  Random random(seed);
  std::vector<uint64_t> seeds;
  for (int i = 0; i < lanes; ++i) seeds.push_back(random.next());
  return seeds;
}

// The state between rounds of a sampling search: budgets, merging, the curve.
template <Space S>
class SamplingRun {
 public:
  using Value = typename S::Value;

  SamplingRun(const S& space, const SamplingOptionsOf<S>& options)
      : options_(options),
        deadline_(options.limits.seconds, options.limits.deadline),
        crew_(options.threads),
        best_(options.start) {
    for (int i = 0; i < options.lanes; ++i) evaluators_.emplace_back(space, options, deadline_);
    top_slice_ = options.quantum;
    if (options.limits.evaluations != SearchLimits::kNone) {
      top_slice_ =
          std::clamp<int64_t>(options.limits.evaluations / (int64_t(options.lanes) * 128), 1, top_slice_);
    }
  }

  // lane(index, evaluator) works while evaluator.more(); exchange(best) runs between rounds.
  template <typename Lane, typename Exchange>
  SamplingResultOf<S> run(Lane&& lane, Exchange&& exchange) {
    for (int64_t slice = 16;; slice *= 2) {
      const int64_t left = options_.limits.evaluations - counts_.evaluations;
      if (left <= 0 || deadline_.expired() || at_bound()) break;
      slice = std::min(slice, top_slice_);
      const bool whole = finishes(deadline_, [&] {
        crew_.run(options_.lanes, [&](int64_t i) {
          LaneEvaluator<S>& evaluator = evaluators_[size_t(i)];
          evaluator.begin_round(lane_share(left, options_.lanes, i, slice));
          if (evaluator.more()) lane(i, evaluator);
        });
      });
      if (!merge() || !whole) break;
      exchange(best_);
    }
    return finish();
  }

 private:
  bool at_bound() const { return best_ && options_.bound && !(*options_.bound < best_->value); }

  SearchPoint<Value> look(double seconds) const {
    SearchPoint<Value> point{seconds, counts_, {}, options_.bound};
    if (best_) point.value = best_->value;
    return point;
  }

  // Returns whether to go on.
  bool merge() {
    const int64_t rounds = counts_.rounds + 1;
    counts_ = {};
    double improved_seconds = -1;
    for (const LaneEvaluator<S>& evaluator : evaluators_) {
      counts_ += evaluator.counts();
      if (!evaluator.best() || (best_ && !(evaluator.best()->value < best_->value))) continue;
      best_ = evaluator.best();
      improved_seconds = evaluator.best_seconds();
    }
    counts_.rounds = rounds;
    const bool improved = improved_seconds >= 0;
    const SearchPoint<Value> point = look(improved ? improved_seconds : deadline_.seconds());
    curve_.record(point, improved);
    return !options_.watcher || options_.watcher(point, best_ ? &best_->solution : nullptr);
  }

  SamplingResultOf<S> finish() {
    SamplingResultOf<S> result;
    result.end = look(deadline_.seconds());
    result.curve = curve_.finish(result.end);
    if (best_) {
      result.best = best_->solution;
      result.status = at_bound() ? SearchStatus::kOptimal : SearchStatus::kFeasible;
    }
    return result;
  }

  const SamplingOptionsOf<S>& options_;
  Deadline deadline_;
  Crew crew_;
  std::vector<LaneEvaluator<S>> evaluators_;
  int64_t top_slice_ = 0;
  SearchCounts counts_;
  std::optional<Scored<typename S::Solution, Value>> best_;
  CurveRecorder<Value> curve_;
};

}  // namespace tilewright
