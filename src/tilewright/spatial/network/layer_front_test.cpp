// Fronts of layers against the table that stands above them, and against every mapping of small layers.
#include "tilewright/spatial/network/layer_front.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "support/spatial/mapper_testing.h"

namespace tilewright {
namespace {

bool covers(const LayerFront& front, const Cost& cost) {
  return std::any_of(front.points.begin(), front.points.end(), [&](const FrontCost& point) {
    return point.cycles <= double(cost.cycles) && point.energy <= cost.energy;
  });
}

// The front of a search that is stopped at once still has the mapping of the table.
TEST(LayerFrontClass, IsNowhereWorseThanTheTable) {
  const int64_t cases = test_cases(20);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const Mapspace mapspace = random_mapspace(random, 50, 20000);
    MapperOptions options = random_options(random);
    const MapResult table = find_mapping(mapspace, options);
    if (table.status != MapStatus::kOptimal) continue;
    if (random.chance(0.7)) options.time_limit_s = 1e-4 * double(random.between(1, 50));
    const LayerFront front = layer_front(mapspace, options, &table.mapping);
    ASSERT_TRUE(covers(front, table.cost));
    for (size_t p = 1; p < front.points.size(); ++p) {
      ASSERT_LT(front.points[p - 1].cycles, front.points[p].cycles);
      ASSERT_GT(front.points[p - 1].energy, front.points[p].energy);
    }
    ASSERT_EQ(front.points.size(), front.mappings.size());
    if (!front.proven) continue;
    // Nothing of the mapspace lies below it, by more than rounding.
    for_each_mapping(
        mapspace,
        [&](const Mapping& mapping) {
          Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
          cost.energy *= 1 + 1e-12;
          if (!covers(front, cost)) ADD_FAILURE() << print_mapping(mapspace.workload, mapping);
        },
        options.rules.accounting);
    if (testing::Test::HasFailure()) break;
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
