// A genetic algorithm whose every child is measured: the population is the best trials so far, parents are
// drawn by tournament, a child is a crossover or a mutation that was not measured before.
#include <algorithm>
#include <unordered_set>

#include "tilewright/search/tuning/proposer.h"

namespace tilewright {
namespace {

using Point = KnobSpace::Point;

constexpr size_t kPopulation = 32;
constexpr int kTournament = 3;
constexpr int kAttempts = 20;         // for a child that is new
constexpr double kImmigrants = 0.05;  // random points among the children

class EvolutionProposer final : public Proposer {
 public:
  explicit EvolutionProposer(const ProposerSetting& setting)
      : setting_(setting), random_(setting.options.seed) {}

  std::vector<Point> propose(size_t count, double) override {
    std::vector<Point> points;
    if (population_.size() >= std::min<size_t>(kPopulation, 2)) {
      std::unordered_set<Point> taken;
      for (size_t i = 0; i < count; ++i) {
        const auto next = random_.chance(kImmigrants) ? std::nullopt : child(taken);
        if (!next) continue;
        taken.insert(*next);
        points.push_back(*next);
      }
    }
    add_random(setting_, random_, count, points);
    return points;
  }

  void learn(std::span<const Point> measured) override {
    for (Point point : measured) {
      if (const auto& cost = setting_.log.trial(point).cost) population_.push_back({*cost, point});
    }
    std::sort(population_.begin(), population_.end());
    population_.resize(std::min(population_.size(), kPopulation));
  }

 private:
  Point parent() {
    size_t best = population_.size();
    for (int i = 0; i < kTournament; ++i) {
      best = std::min(best, size_t(random_.next() % population_.size()));  // they are sorted
    }
    return population_[best].second;
  }

  std::optional<Point> child(const std::unordered_set<Point>& taken) {
    const KnobSpace& space = setting_.problem.space();
    for (int i = 0; i < kAttempts; ++i) {
      Point point = space.crossover(parent(), parent(), random_);
      if (random_.chance(0.5)) point = space.neighbour(point, random_);
      if (!taken.contains(point) && setting_.log.wanted(point)) return point;
    }
    return std::nullopt;
  }

  ProposerSetting setting_;
  Random random_;
  std::vector<std::pair<double, Point>> population_;  // by cost, then by point
};

}  // namespace

std::unique_ptr<Proposer> make_evolution_proposer(const ProposerSetting& setting) {
  return std::make_unique<EvolutionProposer>(setting);
}

}  // namespace tilewright
