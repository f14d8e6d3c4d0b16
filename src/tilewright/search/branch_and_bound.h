// Exact minimisation of one value (Land and Doig 1960, with the node selection of tree_search.h). The answer
// is the optimum with a proof, or the best so far with a lower bound when a limit comes first.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tilewright/search/check_tree.h"
#include "tilewright/search/result.h"
#include "tilewright/search/tree_search.h"

namespace tilewright {

template <typename Solution, typename Value>
struct BranchAndBoundOptions : TreeOptions {
  // A solution known in advance. Only better ones replace it.
  std::optional<Scored<Solution, Value>> start;
  // Enumerates the whole tree as well and throws an internal Error if a bound is above a leaf below it, if a
  // dominated child was the better one, or if the proven value is not the optimum. For tests and small trees.
  bool checked = false;
  SearchWatcher<Solution, Value> watcher;
};

// The record of a tree search that keeps the one best solution.
template <typename Solution, typename Value>
class Incumbent {
 public:
  bool empty() const { return !best_; }
  bool prunes(const Value& bound) const { return best_ && !(bound < best_->value); }
  template <typename Make>
  bool offer(const Value& value, Make&& make) {
    if (prunes(value)) return false;
    best_ = Scored<Solution, Value>{make(), value};
    return true;
  }
  bool merge(Incumbent&& other) {
    if (!other.best_ || prunes(other.best_->value)) return false;
    best_ = std::move(other.best_);
    return true;
  }
  const std::optional<Scored<Solution, Value>>& best() const { return best_; }

 private:
  std::optional<Scored<Solution, Value>> best_;
};

// The best solution of `problem`. Value, solution and counts are the same at any thread count; among
// solutions of equal value the tree, `start`, lanes and quantum decide, so a total order belongs in the
// value. Throws an Error (invalid input) for options out of range.
template <TreeProblem Problem, typename Solution = typename Problem::Solution,
          typename Value = typename Problem::Value>
SearchResult<Solution, Value> branch_and_bound(const Problem& problem,
                                               const BranchAndBoundOptions<Solution, Value>& options = {}) {
  options.verify();
  Incumbent<Solution, Value> incumbent;
  if (options.start) incumbent.offer(options.start->value, [&] { return options.start->solution; });
  TreeSearch<Problem, Incumbent<Solution, Value>> search(problem, options, incumbent);
  SearchResult<Solution, Value> result;
  CurveRecorder<Value> curve;
  const auto look = [&](double seconds) {
    SearchPoint<Value> point{seconds, search.counts(), {}, search.open_bound()};
    if (incumbent.best()) point.value = incumbent.best()->value;
    if (!point.bound && search.complete()) point.bound = point.value;
    return point;
  };
  search.run([&](double improved_seconds) {
    const bool improved = improved_seconds >= 0;
    const SearchPoint<Value> point = look(improved ? improved_seconds : search.seconds());
    curve.record(point, improved);
    return !options.watcher ||
           options.watcher(point, incumbent.best() ? &incumbent.best()->solution : nullptr);
  });
  result.end = look(search.seconds());
  result.curve = curve.finish(result.end);
  if (incumbent.best()) {
    result.best = incumbent.best()->solution;
    result.status = search.complete() ? SearchStatus::kOptimal : SearchStatus::kFeasible;
  } else {
    result.status = search.complete() ? SearchStatus::kInfeasible : SearchStatus::kStopped;
  }
  if (options.checked) {
    std::optional<Value> best = check_tree(problem).best;
    if (options.start) best = best ? lower(*best, options.start->value) : options.start->value;
    TILEWRIGHT_CHECK(!search.complete() || best == result.end.value, "branch and bound missed the optimum");
  }
  return result;
}

}  // namespace tilewright
