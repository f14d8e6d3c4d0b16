// Bounds all valid points in parallel, sorts them by bound (equal ones by number), and measures batches in
// that order. Results are judged in it too, so neither the threads nor the order of results decides between
// equals.
#include "support/search/exhaustive_testing.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;
using Bounded = std::pair<double, KnobSpace::Point>;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// All valid points by their bounds, of equal ones by number.
std::vector<Bounded> valid_points(const TuningProblem& problem, int threads) {
  // Chunks, for validity and bounds cost more in some parts of a space than in others.
  constexpr uint64_t kChunk = 4096;
  const uint64_t size = problem.space().size(), chunks = ceil_div(size, kChunk);
  std::vector<Bounded> points;
  std::mutex mutex;
  parallel_for(threads, int64_t(chunks), [&](int64_t begin, int64_t end) {
    std::vector<Bounded> some;
    for (KnobSpace::Point p = uint64_t(begin) * kChunk; p < std::min(size, uint64_t(end) * kChunk); ++p) {
      if (problem.space().valid(p)) some.emplace_back(problem.bound(p), p);
    }
    const std::lock_guard lock(mutex);
    points.insert(points.end(), some.begin(), some.end());
  });
  std::sort(points.begin(), points.end());
  return points;
}

// Results come in any order; they are judged in that of the points.
void judge(const std::vector<KnobSpace::Point>& points, const std::vector<Measurement>& measurements,
           ExhaustiveResult& result) {
  std::map<KnobSpace::Point, const Measurement*> by_point;
  for (const Measurement& m : measurements) by_point[m.point] = &m;
  for (const KnobSpace::Point point : points) {
    const Measurement& m = *by_point.at(point);
    ++result.measured;
    result.failed += m.cost ? 0 : 1;
    result.cached += m.cached ? 1 : 0;
    if (m.cost && (!result.best || *m.cost < *result.best->cost)) result.best = m;
  }
}

}  // namespace

ExhaustiveResult exhaustive_search(TuningProblem& problem, const ExhaustiveOptions& options,
                                   const std::function<bool(const ExhaustiveResult&)>& watcher) {
  const auto start = Clock::now();
  ExhaustiveResult result;
  const std::vector<Bounded> points = valid_points(problem, options.threads);
  result.combinations = problem.space().size();
  result.valid = points.size();
  result.bound_seconds = result.seconds = since(start);
  const auto may_win = [&](const Bounded& p) { return !result.best || p.first < *result.best->cost; };
  for (size_t next = 0; next < points.size() && may_win(points[next]);) {
    std::vector<KnobSpace::Point> batch;
    for (; next < points.size() && batch.size() < size_t(std::max(1, options.batch)); ++next) {
      if (!may_win(points[next])) break;
      batch.push_back(points[next].second);
    }
    judge(batch, problem.measure(batch), result);
    result.seconds = since(start);
    if (watcher && !watcher(result)) return result;
  }
  result.excluded = result.valid - result.measured;
  result.complete = true;
  return result;
}

}  // namespace tilewright
