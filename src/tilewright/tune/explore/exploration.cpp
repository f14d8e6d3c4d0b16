// A round is drawn from a pool: half of it are candidates that differ from a member of the front in one or
// two knobs, which are drawn by their importance; the other half are any live candidates. A member of the
// pool is drawn with a probability that falls with the ratio of its predicted latency to that of the front at
// its utilisation. The first round takes the candidate with the least bound of each slice of utilisation.
#include "tilewright/tune/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/tune/explore/candidate_model.h"

namespace tilewright::tune {
namespace {

constexpr size_t kPool = 2048;
constexpr double kTemperature = 0.05;  // of the logarithm of the ratio of latencies
constexpr double kSecondKnob = 0.3;    // probability that a second knob changes too

void verify_options(const ExplorationOptions& options, const KnobSpace& space) {
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* field, const char* message) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "exploration options", field, message);
  };
  refuse(options.trials < 0, "trials", "must not be negative");
  refuse(options.candidates < 0, "candidates", "must not be negative");
  refuse(!(options.budget_s >= 0), "budget_s", "must not be negative");
  refuse(options.round < 1, "round", "must be positive");
  refuse(!(options.epsilon >= 0 && options.epsilon <= 1), "epsilon", "is not a share");
  refuse(!options.importance.empty() && options.importance.size() != space.knobs().size(), "importance",
         "has not one value per knob");
  problems.raise_if_any();
}

class Exploration {
 public:
  Exploration(const ExplorationBackend& backend, const Screening& screening, JobExecutor& executor,
              const ExplorationOptions& options, const KnownResults& known, const ExplorationHooks& hooks)
      : backend_(backend),
        space_(backend.space()),
        executor_(executor),
        options_(options),
        known_(known),
        hooks_(hooks),
        model_(space_, options.importance),
        random_(options.seed),
        alive_(screening.fitting) {}

  ExplorationResult run() {
    while (true) {
      drop_covered();
      report();
      if (alive_.empty()) break;
      const bool first = result_.evaluated.empty();  // is taken however short the time
      if (stopped_ || (!first && enough())) break;
      if (over() && known_.empty()) break;
      const std::vector<Candidate> round = first                   ? first_round()
                                           : result_.front.empty() ? even_round()
                                                                   : draw_round();
      if (((!first && time_is_up()) || over()) && !all_known(round)) break;
      take_round(round);
    }
    if (result_.front.empty() && !result_.evaluated.empty() && !stopped_) {
      throw Error(ErrorKind::kInfeasible,
                  fmt::format("none of the {} candidates that were tried can run the network: {}",
                              result_.evaluated.size(), result_.evaluated[0].failure),
                  alive_.empty() ? "take a larger device" : "give it more time or candidates");
    }
    result_.exhausted = alive_.empty();
    result_.importance = model_.learned_importance();
    return std::move(result_);
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool enough() const {
    return options_.candidates > 0 && int64_t(result_.evaluated.size()) >= options_.candidates;
  }
  // Ends only what costs time: known results are all taken up, however short it is.
  bool time_is_up() const { return options_.budget_s > 0 && seconds() >= options_.budget_s; }
  bool over() const { return options_.deadline && options_.deadline->over(); }
  bool all_known(const std::vector<Candidate>& round) const {
    return std::all_of(round.begin(), round.end(),
                       [&](const Candidate& c) { return known_.count(c.point) != 0; });
  }
  size_t round_size() const {
    auto size = size_t(options_.round);
    if (options_.candidates > 0) {
      size = std::min(size, size_t(options_.candidates) - result_.evaluated.size());
    }
    return std::min(size, alive_.size());
  }

  // Takes what was worked on or can never enter the front out of what is alive.
  void drop_covered() {
    std::erase_if(alive_, [&](const Candidate& c) {
      if (taken_.count(c.point) != 0) return true;
      if (!result_.front.covers({c.bound_s, c.utilisation})) return false;
      ++result_.end.pruned;
      return true;
    });
  }

  void report() {
    ExplorationProgress& end = result_.end;
    end.evaluated = int64_t(result_.evaluated.size());
    end.alive = int64_t(alive_.size());
    end.seconds = seconds();
    end.front = result_.front.size();
    if (!result_.front.empty()) end.best_s = result_.front.members().front().point[0];
    if (hooks_.progress && !hooks_.progress(end)) stopped_ = true;
  }

  std::vector<Candidate> first_round() const {
    const size_t count = round_size();
    std::vector<const Candidate*> best(count, nullptr);
    for (const Candidate& c : alive_) {
      const Candidate*& slot = best[std::min(count - 1, size_t(double(c.utilisation) * double(count)))];
      if (slot == nullptr || c.bound_s < slot->bound_s) slot = &c;
    }
    std::vector<Candidate> round;
    for (const Candidate* c : best) {
      if (c != nullptr) round.push_back(*c);
    }
    return round;
  }

  const Candidate* any_alive() { return &alive_[size_t(random_.between(0, int64_t(alive_.size()) - 1))]; }

  const Candidate* find_alive(KnobSpace::Point point) const {
    const auto found = std::lower_bound(alive_.begin(), alive_.end(), point,
                                        [](const Candidate& c, KnobSpace::Point p) { return c.point < p; });
    return found != alive_.end() && found->point == point ? &*found : nullptr;
  }

  size_t drawn_knob(const std::vector<double>& importance) {
    double left = random_.uniform();
    for (size_t k = 0; k + 1 < importance.size(); ++k) {
      if ((left -= importance[k]) < 0) return k;
    }
    return importance.size() - 1;
  }

  const Candidate* changed(KnobSpace::Point point, const std::vector<double>& importance) {
    const int changes = random_.chance(kSecondKnob) ? 2 : 1;
    for (int i = 0; i < changes; ++i) {
      const size_t knob = drawn_knob(importance);
      const auto digits = int64_t(space_.knobs()[knob].values.size());
      point = space_.with_digit(point, knob, size_t(random_.between(0, digits - 1)));
    }
    return find_alive(point);
  }

  // Latency of the front at this utilisation; infinite where it has no member that small.
  double front_at(double utilisation) const {
    double best = std::numeric_limits<double>::infinity();
    for (const ExplorationFront::Member& member : result_.front.members()) {
      if (member.point[1] <= utilisation) best = std::min(best, member.point[0]);
    }
    return best;
  }

  std::vector<const Candidate*> pool() {
    std::set<const Candidate*> pool;
    const std::vector<double> importance = model_.importance();
    const auto& members = result_.front.members();
    for (size_t i = 0; i < kPool / 2 && !members.empty(); ++i) {
      const KnobSpace::Point from = members[size_t(random_.between(0, int64_t(members.size()) - 1))].payload;
      if (const Candidate* c = changed(from, importance)) pool.insert(c);
    }
    for (size_t i = 0; i < kPool / 2; ++i) pool.insert(any_alive());
    return {pool.begin(), pool.end()};
  }

  // As long as nothing is known.
  std::vector<Candidate> even_round() {
    std::set<KnobSpace::Point> chosen;
    std::vector<Candidate> round;
    for (size_t i = 0; i < round_size(); ++i) {
      const Candidate& c = *any_alive();
      if (chosen.insert(c.point).second) round.push_back(c);
    }
    return round;
  }

  std::vector<Candidate> draw_round() {
    const size_t count = round_size();
    std::vector<const Candidate*> candidates = pool();
    // Keys of Efraimidis and Spirakis 2006: the largest are a weighted sample without replacement.
    std::vector<std::pair<double, const Candidate*>> keyed;
    for (const Candidate* c : candidates) {
      const double excess = std::log(model_.predict(c->point, c->bound_s) / front_at(c->utilisation));
      const double log_weight = -std::max(0.0, excess) / kTemperature;
      keyed.emplace_back(std::log(-std::log(1 - random_.uniform())) - log_weight, c);
    }
    std::sort(keyed.begin(), keyed.end());
    std::set<KnobSpace::Point> chosen;
    std::vector<Candidate> round;
    const auto take = [&](const Candidate& c) {
      if (round.size() < count && chosen.insert(c.point).second) round.push_back(c);
    };
    const auto even = size_t(std::floor(options_.epsilon * double(count) + random_.uniform()));
    for (size_t i = 0; i < even; ++i) take(*any_alive());
    for (const auto& entry : keyed) take(*entry.second);
    return round;
  }

  void take_round(const std::vector<Candidate>& round) {
    std::vector<KnobSpace::Point> points;
    for (const Candidate& c : round) points.push_back(c.point);
    std::vector<CandidateResult> results =
        evaluate_candidates(backend_, executor_, points, options_.trials, known_, hooks_, options_.deadline);
    std::vector<double> errors;
    for (size_t i = 0; i < results.size(); ++i) {
      points[i] = results[i].point;  // of those that ended in time
      taken_.insert(points[i]);
      result_.end.known += known_.count(points[i]) != 0 ? 1 : 0;
      if (results[i].cycles == 0) {
        ++result_.end.failed;
      } else {
        const CandidateFacts facts = backend_.judge(points[i]);
        const double latency_s = double(results[i].cycles) / (facts.clock_mhz * 1e6);
        errors.push_back(std::abs(model_.predict(points[i], facts.bound_s) / latency_s - 1));
        model_.add(points[i], latency_s, facts.bound_s);
        result_.front.insert({latency_s, facts.utilisation}, [&] { return points[i]; });
      }
      result_.evaluated.push_back(std::move(results[i]));
    }
    if (!errors.empty()) {
      const auto middle = errors.begin() + std::ptrdiff_t(errors.size() / 2);
      std::nth_element(errors.begin(), middle, errors.end());
      result_.end.model_error = *middle;
      model_.fit();
    }
  }

  const ExplorationBackend& backend_;
  const KnobSpace& space_;
  JobExecutor& executor_;
  const ExplorationOptions& options_;
  const KnownResults& known_;
  const ExplorationHooks& hooks_;
  CandidateModel model_;
  Random random_;
  std::vector<Candidate> alive_;
  std::set<KnobSpace::Point> taken_;
  ExplorationResult result_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

ExplorationResult explore(const ExplorationBackend& backend, const Screening& screening,
                          JobExecutor& executor, const ExplorationOptions& options, const KnownResults& known,
                          const ExplorationHooks& hooks) {
  verify_options(options, backend.space());
  return Exploration(backend, screening, executor, options, known, hooks).run();
}

}  // namespace tilewright::tune
