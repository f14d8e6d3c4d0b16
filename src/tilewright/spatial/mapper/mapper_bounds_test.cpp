// Proofs are as good as the bounds they rest on: on random small mapspaces of layers whose windows step over
// elements, no bound of a node exceeds a mapping below it, and the answer is the least of all mappings.
#include "tilewright/spatial/mapper/mapper_bounds.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "support/spatial/mapper_testing.h"
#include "tilewright/nest/workload_text.h"

namespace tilewright {
namespace {

// Steps and dilations that leave gaps, on few channels, so that all of the mapspace is about windows.
Workload windowed_layer(Random& random) {
  ConvShape shape;
  shape.input_channels = random.between(1, 2);
  shape.output_channels = random.between(1, 2);
  for (WindowAxis* axis : {&shape.height, &shape.width}) {
    if (axis == &shape.height && random.chance(0.7)) continue;
    axis->kernel = random.between(2, 4);
    axis->stride = random.between(1, 4);
    axis->dilation = random.between(1, 3);
    axis->output = random.between(2, 8);
    axis->input = (axis->output - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1;
  }
  return random.chance(0.2) ? conv2d_transpose_workload("t", shape) : conv2d_workload("c", shape);
}

// Fan-outs at several levels, some of which share what they hand out.
ArrayHardware spread_machine(Random& random) {
  ArrayHardware hardware = random_small_hardware(random);
  for (size_t l = 0; l < hardware.levels.size(); ++l) {
    ArrayLevel& level = hardware.levels[l];
    if (random.chance(0.6)) level.fanout_x = random.between(2, 4);
    if (l > 0) level.may_keep = 7;
  }
  return hardware;
}

Mapspace windowed_mapspace(Random& random, double most) {
  while (true) {
    Mapspace mapspace{windowed_layer(random), spread_machine(random), {}, random.chance(0.4)};
    if (mapspace.workload.operation_count() > 200) continue;
    if (random.chance(0.3)) constrain_at_random(mapspace, random);
    Diagnostics diagnostics;
    mapspace.verify(diagnostics);
    if (diagnostics.ok() && mapspace.size() >= 50 && mapspace.size() <= most) return mapspace;
  }
}

void expect_sound_bounds(uint64_t seed) {
  Random random(seed);
  const Mapspace mapspace = windowed_mapspace(random, 4000);
  MapperOptions options = random_options(random);
  options.check_bounds = true;
  const auto evaluate = [&](const Mapping& mapping) {
    return evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
  };
  ASSERT_NO_THROW(expect_optimum(mapspace, options, evaluate)) << print_workload(mapspace.workload);
}

TEST(MapperBoundsClass, NoBoundExceedsAMappingBelowIt) {
  const int64_t cases = test_cases(25);
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    expect_sound_bounds(test_seed() * 1'000'003 + uint64_t(i));
    if (testing::Test::HasFailure()) break;
  }
  RecordProperty("cases", int(cases));
}

// Three of these that a bound exceeds which takes a tile that grows around holes for a whole one.
TEST(MapperBounds, TilesWithHolesHaveFewerElements) {
  for (const uint64_t seed : {1'000'026, 2'000'006, 5'000'027}) {
    SCOPED_TRACE(seed);
    expect_sound_bounds(seed);
  }
}

}  // namespace
}  // namespace tilewright
