// Merged fronts against brute force over all choices.
#include "tilewright/spatial/network/front.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::vector<std::vector<FrontCost>> random_layers(Random& random, int layers, int points) {
  std::vector<std::vector<FrontCost>> result;
  for (int l = 0; l < layers; ++l) {
    std::vector<FrontCost> all;
    const int64_t count = random.between(1, points);
    for (int64_t p = 0; p < count; ++p) {
      all.push_back({double(random.between(1, 40)), double(random.between(1, 40))});
    }
    result.push_back(pareto_front(all));
  }
  return result;
}

std::vector<FrontCost> all_sums(const std::vector<std::vector<FrontCost>>& layers) {
  std::vector<FrontCost> sums = {{}};
  for (const auto& front : layers) {
    std::vector<FrontCost> next;
    for (const FrontCost& sum : sums) {
      for (const FrontCost& point : front)
        next.push_back({sum.cycles + point.cycles, sum.energy + point.energy});
    }
    sums = next;
  }
  return sums;
}

TEST(ParetoFront, KeepsWhatNothingBeats) {
  EXPECT_EQ(pareto_front({{3, 1}, {1, 3}, {2, 3}, {2, 2}, {2, 2}, {4, 1}}),
            (std::vector<FrontCost>{{1, 3}, {2, 2}, {3, 1}}));
  EXPECT_TRUE(pareto_front({}).empty());
}

TEST(MergeFronts, EqualBruteForce) {
  Random random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const auto layers = random_layers(random, int(random.between(1, 5)), 6);
    const NetworkFront front = merge_fronts(layers);
    EXPECT_EQ(front.points, pareto_front(all_sums(layers))) << "trial " << trial << " of seed 11";
    EXPECT_EQ(front.energy_slack, 0);
    for (size_t i = 0; i < front.points.size(); ++i) {
      FrontCost sum;
      for (size_t l = 0; l < layers.size(); ++l) {
        const FrontCost& point = layers[l][size_t(front.choices[i][l])];
        sum.cycles += point.cycles, sum.energy += point.energy;
      }
      EXPECT_EQ(sum, front.points[i]);
    }
  }
}

TEST(MergeFronts, ThinnedFrontsKeepTheirPromise) {
  Random random(12);
  for (int trial = 0; trial < 100; ++trial) {
    const auto layers = random_layers(random, 5, 8);
    const NetworkFront thinned = merge_fronts(layers, 6);
    const std::vector<FrontCost> exact = pareto_front(all_sums(layers));
    for (const FrontCost& point : exact) {
      bool matched = false;
      for (const FrontCost& other : thinned.points) {
        matched = matched || (other.cycles <= point.cycles &&
                              other.energy <= point.energy * (1 + thinned.energy_slack) * (1 + 1e-12));
      }
      EXPECT_TRUE(matched) << "trial " << trial << " of seed 12";
    }
    EXPECT_EQ(thinned.points.back().energy, exact.back().energy) << "the least energy is never thinned away";
  }
}

TEST(MergeFronts, ALayerWithoutMappingLeavesNone) {
  EXPECT_TRUE(merge_fronts({{{1, 1}}, {}}).points.empty());
}

}  // namespace
}  // namespace tilewright
