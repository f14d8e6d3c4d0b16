// Random draws until they hardly ever hit a point that is wanted; from then on the list of those that are
// left.
#include "tilewright/search/tuning/trial_log.h"

#include <utility>

namespace tilewright {

namespace {
constexpr int kDraws = 200;                          // before the points that are left are listed
constexpr uint64_t kMostListed = uint64_t(1) << 22;  // combinations
constexpr int kDrawsUnlisted = 20000;
}  // namespace

TrialLog::TrialLog(const TuningProblem& problem, bool prune_by_bound)
    : problem_(problem), prune_by_bound_(prune_by_bound) {}

void TrialLog::add(Measurement measurement) {
  const Point point = measurement.point;
  if (!index_.emplace(point, trials_.size()).second) return;
  trials_.push_back(std::move(measurement));
  const std::optional<double>& cost = trials_.back().cost;
  if (cost && (!best_ || *cost < *trials_[*best_].cost)) best_ = trials_.size() - 1;
}

double TrialLog::bound(Point point) {
  const auto [at, added] = bounds_.try_emplace(point, 0.0);
  if (added) at->second = problem_.bound(point);
  return at->second;
}

bool TrialLog::wanted(Point point) {
  if (known(point)) return false;
  if (!prune_by_bound_ || !best_ || bound(point) < *trials_[*best_].cost) return true;
  pruned_.insert(point);
  return false;
}

std::optional<TrialLog::Point> TrialLog::draw(Random& random, const std::unordered_set<Point>& taken) {
  if (left_) return draw_listed(random, taken);
  const bool listable = problem_.space().size() <= kMostListed;
  const int draws = listable ? kDraws : kDrawsUnlisted;
  for (int i = 0; i < draws; ++i) {
    const std::optional<Point> point = problem_.space().sample(random, listable ? 20000 : 100000);
    if (!point) break;
    if (!taken.contains(*point) && wanted(*point)) return point;
  }
  if (!listable) return std::nullopt;
  left_.emplace();
  for (Point point = 0; point < problem_.space().size(); ++point) {
    if (!known(point) && problem_.space().valid(point)) left_->push_back(point);
  }
  return draw_listed(random, taken);
}

std::optional<TrialLog::Point> TrialLog::draw_listed(Random& random, const std::unordered_set<Point>& taken) {
  std::vector<Point> put_back;
  std::optional<Point> found;
  while (!found && !left_->empty()) {
    std::swap((*left_)[size_t(random.next() % left_->size())], left_->back());
    const Point point = left_->back();
    left_->pop_back();
    if (!wanted(point)) continue;
    // It may come to nothing (the caller may not measure it): it stays listed until it is known.
    put_back.push_back(point);
    if (!taken.contains(point)) found = point;
  }
  left_->insert(left_->end(), put_back.begin(), put_back.end());
  exhausted_ = left_->empty();
  return found;
}

}  // namespace tilewright
