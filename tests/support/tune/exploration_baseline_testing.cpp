// A rung is a round of jobs; trials of a candidate start anew on every rung, as a job depends on its request
// alone, so what a rung costs is counted in full.
#include "support/tune/exploration_baseline_testing.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::tune {

BaselineResult explore_baseline(const ExplorationBackend& backend, const Screening& screening,
                                JobExecutor& executor, const BaselineOptions& options) {
  struct Arm {
    KnobSpace::Point point = 0;
    double rate = 0, latency_s = 0;
  };
  std::vector<Arm> arms;
  for (const Candidate& c : screening.fitting) arms.push_back({c.point, backend.judge(c.point).peak_gops, 0});
  std::stable_sort(arms.begin(), arms.end(), [](const Arm& a, const Arm& b) { return a.rate > b.rate; });
  if (arms.size() > options.kept) arms.resize(options.kept);

  BaselineResult result;
  result.candidates = int64_t(arms.size());
  int64_t rungs = 1;
  for (size_t n = arms.size(); n > 1; n = (n + 1) / 2) ++rungs;
  for (int64_t rung = 0; !arms.empty(); ++rung) {
    const int64_t trials =
        rung == 0 ? 0 : std::max<int64_t>(1, options.trials >> std::max<int64_t>(0, rungs - 1 - rung));
    std::vector<KnobSpace::Point> points;
    for (const Arm& arm : arms) points.push_back(arm.point);
    std::vector<Arm> alive;
    for (const CandidateResult& one : evaluate_candidates(backend, executor, points, trials, {}, {})) {
      result.trials += one.trials;
      if (one.cycles == 0) continue;
      alive.push_back({one.point, 0, double(one.cycles) / (backend.judge(one.point).clock_mhz * 1e6)});
    }
    std::stable_sort(alive.begin(), alive.end(),
                     [](const Arm& a, const Arm& b) { return a.latency_s < b.latency_s; });
    if (!alive.empty() && (result.best_s == 0 || alive[0].latency_s < result.best_s)) {
      result.best = alive[0].point;
      result.best_s = alive[0].latency_s;
    }
    if (alive.size() <= 1 && rung > 0) break;
    alive.resize((alive.size() + 1) / 2);
    arms = std::move(alive);
  }
  if (result.best_s == 0) {
    throw Error(ErrorKind::kInfeasible,
                "none of the candidates of the highest peak rate can run the network");
  }
  return result;
}

}  // namespace tilewright::tune
