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

// Where the proof of the least energy alone takes minutes.
TEST(LayerFront, AStoppedOneStillReachesFromTheLeastEnergyToTheFastest) {
  const ArrayHardware hardware = find_array_hardware("eyeriss-256", TILEWRIGHT_SOURCE_DIR "/hardware");
  ConvShape shape;
  shape.input_channels = 20;
  shape.output_channels = 50;
  shape.height = shape.width = {.input = 12, .kernel = 5, .output = 8};
  const Workload workload = conv2d_workload("conv2", shape);
  MapperOptions options;
  options.time_limit_s = 3;
  const LayerFront front = layer_front(layer_mapspace(workload, hardware, {}), options);
  EXPECT_FALSE(front.proven);
  ASSERT_GE(front.points.size(), 2u);
  EXPECT_LT(front.points.front().cycles, 0.8 * front.points.back().cycles);
}

}  // namespace
}  // namespace tilewright
