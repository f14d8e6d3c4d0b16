// Successive halving (Jamieson and Talwalkar 2016): many candidates get a little of the budget each, the
// better part of them as much again in total, and so on until one is left. A candidate (an arm) is anything
// that can be worked on further: a hardware configuration with its schedule search, or a local search from
// its own start.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "tilewright/base/integer_math.h"
#include "tilewright/search/space.h"

namespace tilewright {

// advance(budget) works for at most `budget` evaluations and returns how many it used (fewer if nothing is
// left to try); value() is the best so far. Different arms are advanced by several threads at once.
template <typename A>
concept Arm = SearchValue<typename A::Value> && requires(A& arm, const A& seen, int64_t budget) {
  { arm.advance(budget) } -> std::convertible_to<int64_t>;
  { seen.value() } -> std::convertible_to<std::optional<typename A::Value>>;
};

template <typename Value>
struct HalvingOptions {
  int threads = 1;
  SearchLimits
      limits;  // evaluations or seconds must be limited; a turn of every survivor may exceed the seconds
  int keep_one_in = 2;         // survivors of a rung, rounded up
  int64_t turn = 256;          // evaluations of an arm before the next round of turns, at most
  std::optional<Value> bound;  // a known lower bound, as in SamplingOptions
  SearchWatcher<size_t, Value> watcher;

  // Throws an Error (invalid input) with every problem.
  void verify() const {
    limits.verify();
    Diagnostics problems;
    const auto refuse = [&](bool bad, const char* field, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, "halving options", field, message);
    };
    refuse(threads <= 0, "threads", "must be positive");
    refuse(keep_one_in < 2, "keep_one_in", "must be at least 2");
    refuse(turn <= 0, "turn", "must be positive");
    refuse(limits.evaluations == SearchLimits::kNone && !limits.timed(), "limits",
           "successive halving needs a limit in evaluations or seconds");
    problems.raise_if_any();
  }
};

template <Arm A>
class HalvingRace {
 public:
  using Value = typename A::Value;
  using Result = SearchResult<size_t, Value>;

  HalvingRace(std::vector<A>& arms, const HalvingOptions<Value>& options)
      : arms_(arms),
        options_(options),
        deadline_(options.limits.seconds, options.limits.deadline),
        crew_(options.threads),
        alive_(arms.size()) {
    std::iota(alive_.begin(), alive_.end(), size_t(0));
    for (size_t n = arms.size(); n > 1; n = survivors(n)) ++rungs_;
    rungs_ = std::max(rungs_, 1);
  }

  // Rung r of R ends when r/R of each limit is used.
  Result run() {
    bool more = !arms_.empty();
    for (int rung = 1; more && rung <= rungs_; ++rung) {
      while (more && !rung_done(rung) && !at_bound()) more = take_turns(rung);
      std::stable_sort(alive_.begin(), alive_.end(), [&](size_t a, size_t b) { return better(a, b); });
      if (at_bound()) break;
      alive_.resize(survivors(alive_.size()));
    }
    return finish();
  }

 private:
  size_t survivors(size_t n) const {
    const size_t one_in = size_t(options_.keep_one_in);
    return ceil_div(n, one_in);
  }
  bool better(size_t a, size_t b) const {
    const std::optional<Value> x = arms_[a].value(), y = arms_[b].value();
    return x && (!y || *x < *y);
  }
  bool at_bound() const { return best_value_ && options_.bound && !(*options_.bound < *best_value_); }
  int64_t evaluations_until(int rung) const {
    const int64_t all = options_.limits.evaluations;
    return all == SearchLimits::kNone ? all : all / rungs_ * rung + all % rungs_ * rung / rungs_;
  }
  bool rung_done(int rung) const {
    return counts_.evaluations >= evaluations_until(rung) ||
           deadline_.seconds() >= deadline_.limit() / rungs_ * rung;
  }

  // One turn of every survivor. Returns whether to go on: not if no arm had anything left to try.
  bool take_turns(int rung) {
    const int64_t left = evaluations_until(rung) - counts_.evaluations, arms = int64_t(alive_.size());
    std::vector<int64_t> used(alive_.size());
    crew_.run(arms, [&](int64_t i) {
      const int64_t budget = lane_share(left, arms, i, options_.turn);
      if (budget > 0) used[size_t(i)] = arms_[alive_[size_t(i)]].advance(budget);
    });
    counts_.evaluations += std::accumulate(used.begin(), used.end(), int64_t(0));
    ++counts_.rounds;
    bool improved = false;
    for (size_t arm : alive_) {
      const std::optional<Value> value = arms_[arm].value();
      if (!value || (best_value_ && !(*value < *best_value_))) continue;
      best_value_ = value;
      best_ = arm;
      improved = true;
    }
    const SearchPoint<Value> point = look();
    curve_.record(point, improved);
    const bool watched = !options_.watcher || options_.watcher(point, best_value_ ? &best_ : nullptr);
    return watched && std::any_of(used.begin(), used.end(), [](int64_t n) { return n > 0; });
  }

  SearchPoint<Value> look() const { return {deadline_.seconds(), counts_, best_value_, options_.bound}; }

  Result finish() {
    Result result;
    result.end = look();
    result.curve = curve_.finish(result.end);
    if (best_value_) {
      result.best = best_;
      result.status = at_bound() ? SearchStatus::kOptimal : SearchStatus::kFeasible;
    }
    return result;
  }

  std::vector<A>& arms_;
  const HalvingOptions<Value>& options_;
  Deadline deadline_;
  Crew crew_;
  std::vector<size_t> alive_;
  int rungs_ = 0;
  SearchCounts counts_;
  std::optional<Value> best_value_;
  size_t best_ = 0;
  CurveRecorder<Value> curve_;
};

// The best of `arms` by its index; counts.valid is not known and stays 0. The arms are left as far as they
// came. The same at any thread count if no limit in seconds ends it. Throws an Error (invalid input) for
// options out of range.
template <Arm A>
SearchResult<size_t, typename A::Value> successive_halving(std::vector<A>& arms,
                                                           const HalvingOptions<typename A::Value>& options) {
  options.verify();
  return HalvingRace<A>(arms, options).run();
}

// An arm that takes every neighbour which is not worse, from a random start.
template <LocalSpace S>
class ClimbingArm {
 public:
  using Solution = typename S::Solution;
  using Value = typename S::Value;

  ClimbingArm(const S& space, uint64_t seed) : space_(&space), random_(seed) {}
  int64_t advance(int64_t budget) {
    for (int64_t i = 0; i < budget; ++i) {
      Solution next = best_ ? space_->neighbour(best_->solution, random_) : space_->sample(random_);
      const std::optional<Value> value = space_->cost(next);
      if (!value || (best_ && best_->value < *value)) continue;
      best_ = Scored<Solution, Value>{std::move(next), *value};
    }
    return budget;
  }
  std::optional<Value> value() const { return best_ ? std::optional<Value>(best_->value) : std::nullopt; }
  const std::optional<Scored<Solution, Value>>& best() const { return best_; }

 private:
  const S* space_;
  Random random_;
  std::optional<Scored<Solution, Value>> best_;
};

// Local searches from `starts` random solutions, halved until one is left.
template <LocalSpace S>
SamplingResultOf<S> halved_climbs(const S& space, int starts, uint64_t seed,
                                  const HalvingOptions<typename S::Value>& options) {
  std::vector<ClimbingArm<S>> arms;
  for (uint64_t arm_seed : lane_seeds(seed, starts)) arms.emplace_back(space, arm_seed);
  auto race = successive_halving(arms, options);
  SamplingResultOf<S> result{race.status, {}, race.end, std::move(race.curve)};
  if (race.best) result.best = arms[*race.best].best()->solution;
  return result;
}

}  // namespace tilewright
