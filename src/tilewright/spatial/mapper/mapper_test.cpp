#include "tilewright/spatial/mapper/mapper.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "support/spatial/mapper_testing.h"

namespace tilewright {
namespace {

Cost closed_form(const Mapspace& mapspace, const MapperOptions& options, const Mapping& mapping) {
  return evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
}

// dram - buffer - (4x2) - register files.
ArrayHardware small_array() {
  ArrayHardware hardware;
  hardware.name = "small";
  hardware.levels.resize(3);
  const char* names[] = {"dram", "buffer", "rf"};
  const double energies[] = {200, 6, 1};
  for (size_t l = 0; l < 3; ++l) {
    hardware.levels[l].name = names[l];
    hardware.levels[l].read_energy = hardware.levels[l].fill_energy = hardware.levels[l].update_energy =
        energies[l];
  }
  hardware.levels[1].capacity_words = 512;
  hardware.levels[1].fanout_x = 4;
  hardware.levels[1].fanout_y = 2;
  hardware.levels[1].network.delivery_energy = 2;
  hardware.levels[2].capacity_words = 16;
  return hardware;
}

TEST(Mapper, EqualsTheEnumerationOfRandomMapspaces) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 50, 3000);
    const MapperOptions options = random_options(random);
    expect_optimum(mapspace, options, [&](const Mapping& m) { return closed_form(mapspace, options, m); });
  }
}

TEST(Mapper, NoBoundIsAboveAMappingBelowIt) {
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 20, 2000);
    MapperOptions options = random_options(random);
    options.check_bounds = true;
    EXPECT_NO_THROW(find_mapping(mapspace, options));
  }
}

TEST(Mapper, KeepsToALimitInCycles) {
  for (uint64_t seed = 2000; seed < 2040; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 50, 2000);
    MapperOptions options = random_options(random);
    const auto evaluate = [&](const Mapping& m) { return closed_form(mapspace, options, m); };
    const EnumeratedBest all = enumerate_best(mapspace, options, evaluate);
    if (all.mappings == 0) continue;
    options.max_cycles = all.fastest + random.between(-1, all.fastest / 2);
    expect_optimum(mapspace, options, evaluate);
  }
}

TEST(Mapper, OneAndTwoThreadsGiveOneMapping) {
  const Mapspace mapspace{matmul_workload("m", 24, 36, 30), small_array(), {}, false};
  MapperOptions options;
  const MapResult one = find_mapping(mapspace, options);
  options.threads = 2;
  const MapResult two = find_mapping(mapspace, options);
  ASSERT_EQ(one.status, MapStatus::kOptimal);
  EXPECT_EQ(one.mapping, two.mapping);
  EXPECT_EQ(one.value, two.value);
  EXPECT_EQ(one.nodes, two.nodes);
  EXPECT_EQ(one.pruned, two.pruned);
  EXPECT_TRUE(contains(mapspace, one.mapping));
  EXPECT_EQ(one.gap(), 0);
  EXPECT_GT(one.mapspace_size, 1e8);
  for (size_t i = 1; i < one.curve.size(); ++i) EXPECT_GE(one.curve[i].bound, one.curve[i - 1].bound);
}

TEST(Mapper, ImperfectFactorsAreNeverWorse) {
  Mapspace mapspace{matmul_workload("m", 7, 11, 5), small_array(), std::vector<LevelConstraints>(3), false};
  mapspace.constraints[1].must_keep = mapspace.constraints[2].must_keep = 7;
  for (const MapObjective objective : {MapObjective::kEnergy, MapObjective::kLatency, MapObjective::kEdp}) {
    MapperOptions options;
    options.objective = objective;
    mapspace.imperfect = false;
    const MapResult perfect = find_mapping(mapspace, options);
    mapspace.imperfect = true;
    const MapResult imperfect = find_mapping(mapspace, options);
    ASSERT_EQ(imperfect.status, MapStatus::kOptimal);
    EXPECT_LE(imperfect.value, perfect.value);
  }
}

TEST(Mapper, StopsInTimeWithABound) {
  ConvShape shape;
  shape.batch = 16;
  shape.input_channels = shape.output_channels = 96;
  shape.height.input = 29;
  shape.height.output = 27;
  shape.height.kernel = 3;
  shape.width = shape.height;
  Mapspace mapspace{conv2d_workload("c", shape), small_array(), {}, false};
  MapperOptions options;
  options.time_limit_s = 1;
  int64_t calls = 0;
  const MapResult result = find_mapping(mapspace, options, [&](const MapProgress&) { ++calls; });
  EXPECT_EQ(result.status, MapStatus::kStopped);
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(contains(mapspace, result.mapping));
  EXPECT_GT(result.lower_bound, 0);
  EXPECT_LE(result.lower_bound, result.value);
  EXPECT_FALSE(result.curve.empty());
}

TEST(Mapper, NamesTheLimitsThatCannotHold) {
  Mapspace mapspace{matmul_workload("m", 8, 8, 8), small_array(), std::vector<LevelConstraints>(3), false};
  const auto reason = [&](std::optional<int64_t> max_cycles = {}) {
    MapperOptions options;
    options.max_cycles = max_cycles;
    const MapResult result = find_mapping(mapspace, options);
    EXPECT_EQ(result.status, MapStatus::kInfeasible);
    return result.infeasible_reason;
  };
  EXPECT_EQ(reason(63), "at most 63 cycles are allowed, 64 are needed");
  mapspace.constraints[2].must_keep = 7;
  mapspace.constraints[2].temporal = {1, 4, 4, kFree};
  EXPECT_EQ(
      reason(),
      "level 'rf' has 16 words, 24 are needed; level 'rf' must keep input, weight, output; level 'rf' has "
      "fixed temporal factors B=1 M=4 N=4");
  mapspace.constraints[2].must_keep = 2;
  mapspace.constraints[2].temporal = {};
  mapspace.hardware.levels[2].role_capacity_words[1] = 3;
  mapspace.constraints[2].temporal = {kFree, kFree, kFree, 4};
  EXPECT_EQ(
      reason(),
      "level 'rf' has 3 words for weights, 4 are needed; level 'rf' must keep weight; level 'rf' has fixed "
      "temporal factors K=4");
}

TEST(Mapper, RefusesMapspacesThatDoNotVerify) {
  Mapspace mapspace{matmul_workload("m", 8, 8, 8), small_array(), std::vector<LevelConstraints>(3), false};
  mapspace.constraints[2].temporal = {1, 3, 1, 1};
  EXPECT_THROW(find_mapping(mapspace, {}), Error);
}

// The unit of energy is of no consequence: the optimum in another one is the same number in that.
TEST(MapperClass, TheUnitOfEnergyChangesNothing) {
  const int64_t cases = test_cases(40);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    Mapspace mapspace = random_mapspace(random, 50, 3000);
    MapperOptions options = random_options(random);
    options.objective = random.chance(0.5) ? MapObjective::kEnergy : MapObjective::kEdp;
    const MapResult usual = find_mapping(mapspace, options);
    const double unit = std::pow(10, double(random.between(-18, 12)));
    mapspace.hardware.mac_energy *= unit;
    for (ArrayLevel& level : mapspace.hardware.levels) {
      for (double* energy : {&level.read_energy, &level.fill_energy, &level.update_energy,
                             &level.network.delivery_energy, &level.network.hop_energy})
        *energy *= unit;
    }
    const MapResult scaled = find_mapping(mapspace, options);
    ASSERT_EQ(scaled.status, usual.status);
    if (usual.status != MapStatus::kOptimal) continue;
    ASSERT_NEAR(scaled.value / unit, usual.value, 1e-9 * usual.value) << "unit " << unit;
  }
}

}  // namespace
}  // namespace tilewright
