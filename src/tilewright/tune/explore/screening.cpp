// The whole space is judged: closed forms take microseconds, so there is no need to sample it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"
#include "tilewright/base/random.h"
#include "tilewright/tune/explore/exploration.h"

namespace tilewright::tune {
namespace {

constexpr int64_t kSlice = 1 << 14;  // points that a thread takes at a time

Screening screen_slice(const ExplorationBackend& backend, KnobSpace::Point begin, KnobSpace::Point end,
                       const Deadline* deadline) {
  Screening result;
  result.short_of.resize(backend.resources().size());
  result.nearest_utilisation = std::numeric_limits<double>::infinity();
  const KnobSpace& space = backend.space();
  DeadlineWatch watch(deadline);
  for (KnobSpace::Point point = begin; point < end; ++point) {
    watch.check();
    if (!space.valid(point)) continue;
    ++result.valid;
    const CandidateFacts facts = backend.judge(point);
    if (facts.utilisation <= 1) {
      result.fitting.push_back({point, float(facts.bound_s), float(facts.utilisation)});
      continue;
    }
    ++result.short_of[size_t(facts.scarcest)];
    if (facts.utilisation < result.nearest_utilisation) {
      result.nearest = point;
      result.nearest_utilisation = facts.utilisation;
    }
  }
  return result;
}

}  // namespace

const Candidate* Screening::find(KnobSpace::Point point) const {
  const auto found = std::lower_bound(fitting.begin(), fitting.end(), point,
                                      [](const Candidate& c, KnobSpace::Point p) { return c.point < p; });
  return found != fitting.end() && found->point == point ? &*found : nullptr;
}

Screening screen(const ExplorationBackend& backend, int threads, const Deadline* deadline) {
  const auto size = int64_t(backend.space().size()), slices = ceil_div(size, kSlice);
  std::vector<Screening> parts(static_cast<size_t>(slices));
  // In random order, so that what there is time for is a sample of all.
  std::vector<int64_t> order(parts.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  Random random(1);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[size_t(random.between(0, int64_t(i) - 1))]);
  const Deadline whole(Deadline::kNoLimit, deadline);
  const bool complete = finishes(whole, [&] {
    parallel_for(threads, slices, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t s = order[size_t(i)];
        parts[size_t(s)] = screen_slice(backend, KnobSpace::Point(s * kSlice),
                                        KnobSpace::Point(std::min(size, (s + 1) * kSlice)), deadline);
      }
    });
  });
  Screening result;
  result.complete = complete;
  result.points = size;
  result.short_of.resize(backend.resources().size());
  result.nearest_utilisation = std::numeric_limits<double>::infinity();
  for (const Screening& part : parts) {
    if (part.short_of.empty()) continue;  // no time for it
    result.valid += part.valid;
    result.fitting.insert(result.fitting.end(), part.fitting.begin(), part.fitting.end());
    for (size_t r = 0; r < result.short_of.size(); ++r) result.short_of[r] += part.short_of[r];
    if (part.nearest_utilisation >= result.nearest_utilisation) continue;
    result.nearest = part.nearest;
    result.nearest_utilisation = part.nearest_utilisation;
  }
  if (result.valid == int64_t(result.fitting.size())) result.nearest_utilisation = 0;
  return result;
}

void require_fitting(const ExplorationBackend& backend, const Screening& screening,
                     const std::string& device) {
  if (!screening.fitting.empty()) return;
  if (screening.valid == 0) throw Error(ErrorKind::kInfeasible, "the space has no valid candidate");
  Diagnostics problems;
  const std::vector<ExplorationBackend::Need> needs = backend.needs(screening.nearest);
  for (size_t r = 0; r < needs.size(); ++r) {
    if (needs[r].need <= needs[r].have) continue;
    problems.error(ErrorKind::kInfeasible, "device '" + device + "'", backend.resources()[r],
                   fmt::format("the smallest of {} candidates needs {}, the device has {}: {} too few",
                               screening.valid, needs[r].need, needs[r].have, needs[r].need - needs[r].have),
                   "take a larger device");
  }
  problems.raise_if_any();
}

}  // namespace tilewright::tune
