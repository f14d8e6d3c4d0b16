// What every search of this module returns, what limits it and what it reports on the way.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/search/objective.h"

namespace tilewright {

class Deadline;

enum class SearchStatus {
  kOptimal,     // the best solution, proven
  kFeasible,    // a solution; a limit (or the method) left no proof
  kInfeasible,  // proven: there is no solution
  kStopped,     // a limit came before any solution
};

// "optimal", "feasible", "infeasible", "stopped".
const char* search_status_name(SearchStatus status);

// The first limit that is reached ends a search. Limits in nodes and evaluations give the same result on any
// machine at any thread count; a limit in seconds does not, unless the search ends before it.
struct SearchLimits {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t nodes = kNone;        // expanded nodes of a tree search
  int64_t evaluations = kNone;  // leaves of a tree search, cost calls of the others
  double seconds = std::numeric_limits<double>::infinity();
  const Deadline* deadline = nullptr;  // of the work that the search is a part of; outlives it

  // Whether the search ends after some time, whatever it finds.
  bool timed() const;
  // Throws an Error (invalid input) that names every field that is not positive.
  void verify() const;
};

struct SearchCounts {
  int64_t nodes = 0;        // expanded
  int64_t pruned = 0;       // cut off by a bound or by dominance before expansion
  int64_t evaluations = 0;  // leaves, or cost calls
  int64_t valid = 0;        // those that are solutions
  int64_t rounds = 0;       // synchronisation points

  SearchCounts& operator+=(const SearchCounts& other);
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

// The state of a search at one moment. No `value`: nothing found yet. No `bound`: the method knows none, or
// the problem is proven infeasible. Everything but `seconds` is the same at any thread count.
template <typename Value>
struct SearchPoint {
  double seconds = 0;
  SearchCounts counts;
  std::optional<Value> value;
  std::optional<Value> bound;  // no solution is below it

  // (value - bound) / |value| of the primary objective: 0 when they are equal, infinity when one is unknown.
  double gap() const {
    if (!value || !bound) return std::numeric_limits<double>::infinity();
    if (*value == *bound) return 0;
    const double top = as_double(*value), difference = top - as_double(*bound);
    return difference == 0 ? 0 : difference / std::abs(top);
  }
};

// A solution and its value.
template <typename Solution, typename Value>
struct Scored {
  Solution solution;
  Value value;
};

// Called between rounds on the thread that runs the search, with the state and the best solution so far (null
// before the first). Returning false ends the search as a limit would.
template <typename Solution, typename Value>
using SearchWatcher = std::function<bool(const SearchPoint<Value>& point, const Solution* best)>;

template <typename Solution, typename Value>
struct SearchResult {
  SearchStatus status = SearchStatus::kStopped;
  std::optional<Solution> best;
  SearchPoint<Value> end;                 // value of `best`, bound, counts, seconds
  std::vector<SearchPoint<Value>> curve;  // every improvement and a few points between; the last is `end`

  double gap() const { return end.gap(); }
  double evaluations_per_second() const {
    return end.seconds > 0 ? double(end.counts.evaluations) / end.seconds : 0;
  }
};

// Collects the anytime curve: improvements always, points without one only as the work done grows by a tenth.
template <typename Value>
class CurveRecorder {
 public:
  void record(const SearchPoint<Value>& point, bool improved) {
    const int64_t work = point.counts.nodes + point.counts.evaluations;
    if (!improved && work < next_) return;
    points_.push_back(point);
    next_ = work + work / 10 + 1;
  }
  std::vector<SearchPoint<Value>> finish(const SearchPoint<Value>& end) {
    if (!points_.empty() && points_.back().counts == end.counts) points_.pop_back();
    points_.push_back(end);
    return std::move(points_);
  }

 private:
  std::vector<SearchPoint<Value>> points_;
  int64_t next_ = 1;
};

}  // namespace tilewright
