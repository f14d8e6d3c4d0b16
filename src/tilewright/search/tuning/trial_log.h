// What a tuning run knows: the points it has measured, and which others are still worth a trial.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

class TrialLog {
 public:
  using Point = KnobSpace::Point;

  TrialLog(const TuningProblem& problem, bool prune_by_bound);

  void add(Measurement measurement);
  const std::vector<Measurement>& trials() const { return trials_; }
  bool known(Point point) const { return index_.contains(point); }
  // The measurement of a known point.
  const Measurement& trial(Point point) const { return trials_[index_.at(point)]; }
  // Of the successful trials: the lowest cost, the earliest of equals.
  const Measurement* best() const { return best_ ? &trials_[*best_] : nullptr; }

  // Whether a valid `point` is worth a trial: not measured, and its bound below the best cost.
  bool wanted(Point point);
  // Distinct points that wanted() has turned down because of their bound.
  int64_t pruned() const { return int64_t(pruned_.size()); }
  double bound(Point point);

  // A valid, wanted point that is not in `taken`, each with the same probability. Nothing: there is none, or
  // (not exhausted()) none was found in a space too large to list.
  std::optional<Point> draw(Random& random, const std::unordered_set<Point>& taken);
  // Every valid point is measured or cannot beat the best.
  bool exhausted() const { return exhausted_; }

 private:
  std::optional<Point> draw_listed(Random& random, const std::unordered_set<Point>& taken);

  const TuningProblem& problem_;
  bool prune_by_bound_;
  std::vector<Measurement> trials_;
  std::unordered_map<Point, size_t> index_;
  std::optional<size_t> best_;
  std::unordered_map<Point, double> bounds_;
  std::unordered_set<Point> pruned_;
  std::optional<std::vector<Point>> left_;  // once random draws have become rare
  bool exhausted_ = false;
};

}  // namespace tilewright
