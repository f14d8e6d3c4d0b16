// Random points, none twice: the baseline of every other method.
#include "tilewright/search/tuning/proposer.h"

namespace tilewright {

void add_random(const ProposerSetting& setting, Random& random, size_t count,
                std::vector<KnobSpace::Point>& points) {
  std::unordered_set<KnobSpace::Point> taken(points.begin(), points.end());
  while (points.size() < count) {
    const auto point = setting.log.draw(random, taken);
    if (!point) return;
    taken.insert(*point);
    points.push_back(*point);
  }
}

namespace {

class RandomProposer final : public Proposer {
 public:
  explicit RandomProposer(const ProposerSetting& setting)
      : setting_(setting), random_(setting.options.seed) {}

  std::vector<KnobSpace::Point> propose(size_t count, double) override {
    std::vector<KnobSpace::Point> points;
    add_random(setting_, random_, count, points);
    return points;
  }
  void learn(std::span<const KnobSpace::Point>) override {}

 private:
  ProposerSetting setting_;
  Random random_;
};

}  // namespace

std::unique_ptr<Proposer> make_random_proposer(const ProposerSetting& setting) {
  return std::make_unique<RandomProposer>(setting);
}

}  // namespace tilewright
