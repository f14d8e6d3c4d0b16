// The loop that all methods share: propose, measure, remember, learn.
#include "tilewright/search/tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "tilewright/base/error.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/tuning/proposer.h"

namespace tilewright {
namespace {

void verify(const TuningProblem& problem, const TuningOptions& options) {
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* field, const std::string& message) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "tuning options", field, message);
  };
  refuse(options.trials < 1, "trials", "must be positive");
  refuse(options.batch < 1, "batch", "must be positive");
  refuse(options.threads < 1, "threads", "must be positive");
  refuse(!(options.epsilon >= 0 && options.epsilon <= 1), "epsilon", "must be between 0 and 1");
  refuse(!(options.diversity >= 0), "diversity", "must not be negative");
  refuse(!std::isfinite(options.exploration), "exploration", "must be finite");
  refuse(options.chains < 1, "chains", "must be positive");
  refuse(options.chain_steps < 1, "chain_steps", "must be positive");
  refuse(options.method == TuningMethod::kGuided && options.model == nullptr, "model",
         "a guided run needs a cost model");
  for (KnobSpace::Point point : options.start) {
    refuse(!problem.space().valid(point), "start", fmt::format("point {} is not valid", point));
  }
  problems.raise_if_any();
}

std::unique_ptr<Proposer> make_proposer(const ProposerSetting& setting) {
  switch (setting.options.method) {
    case TuningMethod::kRandom:
      return make_random_proposer(setting);
    case TuningMethod::kAnnealing:
      return make_annealing_proposer(setting);
    case TuningMethod::kEvolution:
      return make_evolution_proposer(setting);
    case TuningMethod::kGuided:
      return make_guided_proposer(setting);
  }
  TILEWRIGHT_CHECK(false, "a method that is none");
}

class TuningRun {
 public:
  TuningRun(TuningProblem& problem, const TuningOptions& options)
      : problem_(problem),
        options_(options),
        deadline_(Deadline::kNoLimit, options.deadline),
        log_(problem, options.prune_by_bound),
        proposer_(make_proposer({problem, options, log_})) {}

  TuningResult run(const std::function<bool(const TuningProgress&)>& watcher) {
    bool more = true;
    size_t at = 0;
    for (auto start = start_points(at); more && !start.empty() && !deadline_.over();
         start = start_points(at)) {
      more = finish_batch(start, watcher);
    }
    while (more && !deadline_.over()) {
      const auto points = proposed();
      more = !points.empty() && finish_batch(points, watcher);
    }
    if (log_.trials().empty() && !deadline_.expired()) {
      throw Error(ErrorKind::kInfeasible, "tuning: no combination of the knobs is valid",
                  "the rules of the space leave nothing, or too little to be found at random");
    }
    return {progress(), log_.trials(), log_.exhausted()};
  }

 private:
  int64_t left() const { return options_.trials - int64_t(log_.trials().size()); }

  // The next ones of options_.start that are not measured; `at` moves past them.
  std::vector<KnobSpace::Point> start_points(size_t& at) const {
    std::vector<KnobSpace::Point> points;
    const int64_t most = std::min<int64_t>(options_.batch, left());
    for (; at < options_.start.size() && int64_t(points.size()) < most; ++at) {
      const KnobSpace::Point point = options_.start[at];
      const bool twice = std::find(points.begin(), points.end(), point) != points.end();
      if (!twice && !log_.known(point)) points.push_back(point);
    }
    return points;
  }

  std::vector<KnobSpace::Point> proposed() {
    const double used = double(log_.trials().size()) / double(options_.trials);
    return proposer_->propose(size_t(std::min<int64_t>(options_.batch, left())), used);
  }

  // Measures the points and learns from them; whether to go on.
  bool finish_batch(std::vector<KnobSpace::Point> points,
                    const std::function<bool(const TuningProgress&)>& watcher) {
    std::unordered_map<KnobSpace::Point, Measurement> measured;
    for (Measurement& one : problem_.measure(points)) measured[one.point] = std::move(one);
    if (deadline_.over()) std::erase_if(points, [&](KnobSpace::Point p) { return measured.count(p) == 0; });
    for (KnobSpace::Point point : points) {
      const auto at = measured.find(point);
      TILEWRIGHT_CHECK(at != measured.end(), "a point was to be measured and was not");
      const std::optional<double>& cost = at->second.cost;
      TILEWRIGHT_CHECK(!cost || (std::isfinite(*cost) && *cost > 0), "a cost that is not positive");
      failed_ += cost ? 0 : 1;
      cached_ += at->second.cached ? 1 : 0;
      log_.add(std::move(at->second));
    }
    proposer_->learn(points);
    const bool watched = !watcher || watcher(progress());
    return watched && !deadline_.over() && left() > 0 &&
           !(log_.best() && *log_.best()->cost <= options_.stop_at);
  }

  TuningProgress progress() const {
    TuningProgress now;
    now.trials = int64_t(log_.trials().size());
    now.failed = failed_;
    now.cached = cached_;
    now.pruned = log_.pruned();
    now.seconds = deadline_.seconds();
    if (const Measurement* best = log_.best()) {
      now.best = best->point;
      now.best_cost = *best->cost;
    }
    now.model_error = proposer_->model_error();
    return now;
  }

  TuningProblem& problem_;
  const TuningOptions& options_;
  Deadline deadline_;
  TrialLog log_;
  std::unique_ptr<Proposer> proposer_;
  int64_t failed_ = 0, cached_ = 0;
};

}  // namespace

std::vector<double> TuningResult::best_so_far() const {
  std::vector<double> curve;
  double best = std::numeric_limits<double>::infinity();
  for (const Measurement& trial : trials) {
    if (trial.cost) best = std::min(best, *trial.cost);
    curve.push_back(best);
  }
  return curve;
}

TuningResult tune_problem(TuningProblem& problem, const TuningOptions& options,
                          const std::function<bool(const TuningProgress&)>& watcher) {
  verify(problem, options);
  return TuningRun(problem, options).run(watcher);
}

}  // namespace tilewright
