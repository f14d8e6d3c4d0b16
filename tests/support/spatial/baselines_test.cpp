#include <gtest/gtest.h>

#include "support/spatial/baselines_testing.h"
#include "support/spatial/mapper_testing.h"
#include "tilewright/spatial/mapper/mapspace_sampling.h"

namespace tilewright {
namespace {

TEST(MapspaceSampling, SamplesNeighboursAndMixturesLieInTheMapspace) {
  int64_t valid = 0, total = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 100, 20000);
    const MapperOptions options = random_options(random);
    const MapspaceSampling space(mapspace, options);
    SlotMapping a = space.sample(random);
    for (int i = 0; i < 60; ++i) {
      const SlotMapping b = i % 3 == 0   ? space.sample(random)
                            : i % 3 == 1 ? space.neighbour(a, random)
                                         : space.crossover(a, space.sample(random), random);
      const Mapping mapping = space.choices().build(b);
      const std::optional<MapValue> value = space.cost(b);
      EXPECT_EQ(value.has_value(), contains(mapspace, mapping, options.rules.accounting))
          << print_mapping(mapspace.workload, mapping);
      ++total;
      if (!value) continue;
      ++valid;
      const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
      EXPECT_EQ(*value, map_value(options.objective, space.scale().key(cost.energy), cost.cycles));
      a = b;
    }
  }
  EXPECT_GT(valid, total / 2);
}

TEST(Baselines, ReachTheOptimumOfSmallMapspacesAndNeverPassIt) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 100, 1000);
    const MapperOptions options = random_options(random);
    const MapResult best = find_mapping(mapspace, options);
    SearchLimits limits;
    limits.evaluations = 3000;
    int reached = 0;
    for (int b = 0; b < kBaselines; ++b) {
      const BaselineResult result = run_baseline(mapspace, options, Baseline(b), limits, seed);
      EXPECT_EQ(result.mapping.has_value(), best.status == MapStatus::kOptimal);
      if (!result.mapping) continue;
      EXPECT_GE(result.value, best.value * (1 - 1e-12));
      reached += result.value <= best.value * (1 + 1e-12) ? 1 : 0;
    }
    EXPECT_TRUE(reached > 0 || best.status == MapStatus::kInfeasible);
  }
}

}  // namespace
}  // namespace tilewright
