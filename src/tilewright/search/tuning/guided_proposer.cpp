// Learning to optimize tensor programs (Chen et al. 2018), section 4: parallel annealing chains on the
// model's surface collect promising points, a batch of them is chosen for quality and diversity, a share is
// drawn at random, and the model learns from what was measured.
#include <algorithm>
#include <cmath>

#include "tilewright/search/tuning/model_surface.h"
#include "tilewright/search/tuning/proposer.h"

namespace tilewright {
namespace {

using Point = KnobSpace::Point;

struct Candidate {
  double score = 0;
  Point point = 0;
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : point < other.point;
  }
};

constexpr size_t kPoolFactor = 3;     // candidates of which a batch is chosen
constexpr double kFailureFactor = 2;  // a failed point counts as so much slower than the slowest
// Of a batch on the surface of the bound: the lowest bounds are of one kind of points, whose waiting it does
// not see, and a model needs others to compare them with.
constexpr double kRandomBeforeModel = 0.5;
constexpr double kBestChains = 0.5;  // share of the chains that start from the best trials

class GuidedProposer final : public Proposer {
 public:
  explicit GuidedProposer(const ProposerSetting& setting)
      : setting_(setting),
        random_(setting.options.seed),
        model_(*setting.options.model),
        surface_(setting.problem, setting.options.threads) {}

  std::vector<Point> propose(size_t count, double) override {
    std::vector<Point> points;
    if (model_.trained() || setting_.options.start_on_bound) {
      const double share = model_.trained() ? setting_.options.epsilon : kRandomBeforeModel;
      const auto random_part = size_t(std::lround(share * double(count)));
      points = choose(candidates(count * kPoolFactor), count - std::min(count, random_part));
    }
    add_random(setting_, random_, count, points);
    return points;
  }

  void learn(std::span<const Point> measured) override {
    if (model_.trained()) model_error_ = wrong_pairs(measured);
    for (Point point : measured) {
      const auto& cost = setting_.log.trial(point).cost;
      samples_.push_back({surface_.features(point), cost.value_or(0), 0});
      if (cost) slowest_ = std::max(slowest_, *cost);
      if (!cost) failed_.push_back(samples_.size() - 1);
    }
    if (slowest_ == 0) return;
    for (size_t i : failed_) samples_[i].cost = slowest_ * kFailureFactor;
    model_.fit(samples_);
    surface_.forget_scores();
  }

  double model_error() const override { return model_error_; }

 private:
  std::vector<double> scores(std::span<const Point> points) {
    if (model_.trained()) return surface_.scores(model_, setting_.options.exploration, points);
    std::vector<double> bounds;
    for (Point point : points) bounds.push_back(std::log(std::max(setting_.log.bound(point), 1e-300)));
    return bounds;
  }

  double wrong_pairs(std::span<const Point> measured) {
    const std::vector<double> predicted = scores(measured);
    int64_t wrong = 0, all = 0;
    for (size_t i = 0; i < measured.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const auto &a = setting_.log.trial(measured[i]).cost, &b = setting_.log.trial(measured[j]).cost;
        if (!a || !b || *a == *b) continue;
        ++all;
        wrong += (*a < *b) == (predicted[i] < predicted[j]) ? 0 : 1;
      }
    }
    return all == 0 ? 0 : double(wrong) / double(all);
  }

  // Where the chains begin: the best trials, and where they were after the batch before (or anywhere).
  std::vector<Point> chain_starts() {
    std::vector<Candidate> best;
    for (const Measurement& trial : setting_.log.trials()) {
      if (trial.cost) best.push_back({*trial.cost, trial.point});
    }
    const auto chains = size_t(setting_.options.chains);
    const size_t from_best = std::min(best.size(), size_t(kBestChains * double(chains)));
    std::partial_sort(best.begin(), best.begin() + std::ptrdiff_t(from_best), best.end());
    std::vector<Point> starts;
    for (size_t i = 0; i < from_best; ++i) starts.push_back(best[i].point);
    for (size_t i = starts.size(); i < chains && i < chains_.size(); ++i) starts.push_back(chains_[i]);
    while (starts.size() < chains) {
      const auto point = setting_.problem.space().sample(random_);
      if (!point) break;
      starts.push_back(*point);
    }
    return starts;
  }

  // The best `most` points that are worth a trial, of all that the chains meet.
  std::vector<Candidate> candidates(size_t most) {
    chains_ = chain_starts();
    std::vector<Candidate> met;
    std::unordered_set<Point> seen;
    const auto meet = [&](const std::vector<Point>& points, const std::vector<double>& values) {
      for (size_t i = 0; i < points.size(); ++i) {
        if (seen.insert(points[i]).second) met.push_back({values[i], points[i]});
      }
    };
    std::vector<double> at = scores(chains_);
    meet(chains_, at);
    const double temperature = spread(at) / 2;
    for (int step = 0; step < setting_.options.chain_steps; ++step) {
      std::vector<Point> next;
      for (Point point : chains_) next.push_back(setting_.problem.space().neighbour(point, random_));
      const std::vector<double> values = scores(next);
      meet(next, values);
      const double t = temperature * (1 - double(step) / setting_.options.chain_steps);
      for (size_t i = 0; i < next.size(); ++i) {
        const double worse = values[i] - at[i];
        if (worse > 0 && !(random_.uniform() < std::exp(-worse / t))) continue;
        chains_[i] = next[i];
        at[i] = values[i];
      }
    }
    std::sort(met.begin(), met.end());
    std::vector<Candidate> best;
    for (const Candidate& candidate : met) {
      if (best.size() == most) break;
      if (setting_.log.wanted(candidate.point)) best.push_back(candidate);
    }
    return best;
  }

  static double spread(const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (double value : values) {
      sum += value;
      squares += value * value;
    }
    const double count = std::max<double>(1, double(values.size()));
    return std::sqrt(std::max(0.0, squares / count - sum / count * sum / count)) + 1e-9;
  }

  // Greedily, the candidate that adds most: its score, on a scale from 0 (the worst of the pool) to 1, and
  // its share of knobs with a value that no chosen one has. Within 1 - 1/e of the best choice, for the sum is
  // submodular.
  std::vector<Point> choose(std::vector<Candidate> pool, size_t count) const {
    std::vector<Point> chosen;
    if (pool.empty()) return chosen;
    const double low = pool.front().score, range = std::max(pool.back().score - low, 1e-12);
    const KnobSpace& space = setting_.problem.space();
    const size_t knobs = space.knobs().size();
    std::vector<std::unordered_set<size_t>> covered(knobs);
    while (chosen.size() < count && !pool.empty()) {
      size_t best = 0;
      double best_value = -1;
      for (size_t i = 0; i < pool.size(); ++i) {
        size_t fresh = 0;
        for (size_t k = 0; k < knobs; ++k)
          fresh += covered[k].contains(space.digit(pool[i].point, k)) ? 0 : 1;
        const double value = 1 - (pool[i].score - low) / range + setting_.options.diversity * double(fresh);
        if (value > best_value) {
          best_value = value;
          best = i;
        }
      }
      chosen.push_back(pool[best].point);
      for (size_t k = 0; k < knobs; ++k) covered[k].insert(space.digit(pool[best].point, k));
      pool.erase(pool.begin() + std::ptrdiff_t(best));
    }
    return chosen;
  }

  ProposerSetting setting_;
  Random random_;
  CostModel& model_;
  ModelSurface surface_;
  std::vector<CostSample> samples_;
  std::vector<size_t> failed_;  // of samples_
  double slowest_ = 0;
  std::vector<Point> chains_;
  double model_error_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> make_guided_proposer(const ProposerSetting& setting) {
  return std::make_unique<GuidedProposer>(setting);
}

}  // namespace tilewright
