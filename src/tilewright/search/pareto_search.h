// The exact Pareto front of two or more objectives by branch and bound: a node is pruned when a point of the
// front is at most its bound in every objective, since every leaf below is then covered too.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include "tilewright/search/pareto.h"
#include "tilewright/search/result.h"
#include "tilewright/search/tree_search.h"

namespace tilewright {

template <typename T, size_t N, typename Solution>
struct ParetoResult {
  SearchStatus status =
      SearchStatus::kStopped;  // optimal: the whole front, each point with one of its solutions
  ParetoFront<T, N, Solution> front;
  SearchCounts counts;
  double seconds = 0;
};

template <typename T, size_t N, typename Solution>
class FrontRecord {
 public:
  bool empty() const { return front_.empty(); }
  bool prunes(const std::array<T, N>& bound) const { return front_.covers(bound); }
  template <typename Make>
  bool offer(const std::array<T, N>& value, Make&& make) {
    return front_.insert(value, make);
  }
  bool merge(FrontRecord&& other) { return front_.merge(std::move(other.front_)); }
  const ParetoFront<T, N, Solution>& front() const { return front_; }

 private:
  ParetoFront<T, N, Solution> front_;
};

template <typename Problem>
struct ParetoOf;

template <TreeProblem Problem>
requires requires { std::tuple_size<typename Problem::Value>::value; }
struct ParetoOf<Problem> {
  using Objective = typename Problem::Value::value_type;
  static constexpr size_t kObjectives = std::tuple_size_v<typename Problem::Value>;
  using Result = ParetoResult<Objective, kObjectives, typename Problem::Solution>;
  using Record = FrontRecord<Objective, kObjectives, typename Problem::Solution>;
  using Front = ParetoFront<Objective, kObjectives, typename Problem::Solution>;
};

template <typename Problem>
struct ParetoOptions : TreeOptions {
  // Called between rounds; returning false ends the search as a limit would.
  std::function<bool(const typename ParetoOf<Problem>::Front& front, const SearchCounts& counts,
                     double seconds)>
      watcher;
};

// All non-dominated values of a tree problem whose Value is std::array<T, N>; bounds hold objective by
// objective. The front and its solutions are the same at any thread count. Throws an Error (invalid input)
// for options out of range.
template <TreeProblem Problem>
typename ParetoOf<Problem>::Result pareto_search(const Problem& problem,
                                                 const ParetoOptions<Problem>& options = {}) {
  options.verify();
  typename ParetoOf<Problem>::Record record;
  TreeSearch<Problem, typename ParetoOf<Problem>::Record> search(problem, options, record);
  search.run([&](double) {
    return !options.watcher || options.watcher(record.front(), search.counts(), search.seconds());
  });
  SearchStatus status = search.complete() ? SearchStatus::kInfeasible : SearchStatus::kStopped;
  if (!record.empty()) status = search.complete() ? SearchStatus::kOptimal : SearchStatus::kFeasible;
  return {status, record.front(), search.counts(), search.seconds()};
}

}  // namespace tilewright
