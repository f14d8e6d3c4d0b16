// Annealing whose every step is a measurement: some chains that go in step, each with a neighbour of its
// point. Steps are judged by the ratio of costs; the temperature starts at the spread of the first costs and
// falls geometrically with the trials used up. search/annealing.h has the form for costs that are cheap.
#include <algorithm>
#include <cmath>

#include "tilewright/search/tuning/proposer.h"

namespace tilewright {
namespace {

using Point = KnobSpace::Point;

constexpr double kEndRatio = 0.01;  // of the temperatures: costs of schedules are flat near the best
constexpr int kFreeSteps = 64;      // over known points, before a chain draws a random one

class AnnealingProposer final : public Proposer {
 public:
  explicit AnnealingProposer(const ProposerSetting& setting)
      : setting_(setting),
        random_(setting.options.seed),
        chains_(size_t(std::max(1, setting.options.batch / 4))) {}

  std::vector<Point> propose(size_t count, double used) override {
    if (temperature_ > 0) temperature_ = start_temperature_ * std::pow(kEndRatio, used);
    std::vector<Point> points;
    std::unordered_set<Point> taken;
    owners_.clear();
    for (size_t c = 0; c < chains_.size() && points.size() < count; ++c) {
      const auto point = step(chains_[(next_ + c) % chains_.size()], taken);
      if (!point) break;
      taken.insert(*point);
      points.push_back(*point);
      owners_.push_back((next_ + c) % chains_.size());
    }
    next_ = (next_ + points.size()) % chains_.size();
    return points;
  }

  void learn(std::span<const Point> measured) override {
    const bool start = owners_.empty();  // given to the run, nobody's step
    for (size_t i = 0; i < measured.size(); ++i) {
      const Measurement& trial = setting_.log.trial(measured[i]);
      Chain& chain = chains_[start ? i % chains_.size() : owners_[i]];
      if (trial.cost) visit(chain, trial.point, *trial.cost);
    }
    if (temperature_ == 0) start_temperature();
  }

 private:
  struct Chain {
    std::optional<Point> at;
    double cost = 0;
  };

  void visit(Chain& chain, Point point, double cost) {
    const double worse = chain.at ? std::log(cost / chain.cost) : 0;
    if (worse > 0 && !(random_.uniform() < std::exp(-worse / temperature_))) return;
    chain = {point, cost};
  }

  // A neighbour to measure. What is known is walked over for free; so is what the bound rules out, at its
  // bound.
  std::optional<Point> step(Chain& chain, const std::unordered_set<Point>& taken) {
    for (int i = 0; chain.at && i < kFreeSteps; ++i) {
      const Point next = setting_.problem.space().neighbour(*chain.at, random_);
      if (taken.contains(next)) continue;
      if (setting_.log.wanted(next)) return next;
      if (!setting_.log.known(next)) {
        visit(chain, next, setting_.log.bound(next));
      } else if (const auto& cost = setting_.log.trial(next).cost) {
        visit(chain, next, *cost);
      }
    }
    return setting_.log.draw(random_, taken);
  }

  void start_temperature() {
    double sum = 0, squares = 0;
    int count = 0;
    for (const Chain& chain : chains_) {
      if (!chain.at) continue;
      const double value = std::log(chain.cost);
      sum += value;
      squares += value * value;
      ++count;
    }
    if (count < 2) return;
    const double variance = squares / count - sum / count * sum / count;
    start_temperature_ = std::sqrt(std::max(variance, 1e-8)) / 2;
    temperature_ = start_temperature_;
  }

  ProposerSetting setting_;
  Random random_;
  std::vector<Chain> chains_;
  std::vector<size_t> owners_;  // of the points proposed last
  size_t next_ = 0;
  double start_temperature_ = 0, temperature_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> make_annealing_proposer(const ProposerSetting& setting) {
  return std::make_unique<AnnealingProposer>(setting);
}

}  // namespace tilewright
