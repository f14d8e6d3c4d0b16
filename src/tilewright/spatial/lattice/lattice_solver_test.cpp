// The lattice solver against plain enumeration: on random small mapspaces of its kind it finds the optimum
// that costing every mapping finds, under both accountings and all objectives.
#include "tilewright/spatial/lattice/lattice_solver.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "support/spatial/random_mapspace_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// Main memory, perhaps a buffer, an array of register files.
ArrayHardware small_machine(Random& random) {
  ArrayHardware hardware;
  hardware.name = "small";
  hardware.mac_energy = 1;
  const int levels = random.chance(0.8) ? 3 : 2;
  for (int l = 0; l < levels; ++l) {
    ArrayLevel level;
    level.name = "l" + std::to_string(l);
    const bool low = l == levels - 1;
    if (l > 0) level.capacity_words = low ? random.between(3, 24) : random.between(8, 80);
    if (l > 0 && random.chance(0.2))
      level.role_capacity_words[size_t(random.between(0, 2))] = random.between(1, 20);
    if (l > 0 && random.chance(0.1)) level.copies = 2;
    level.read_energy = l == 0 ? 40 : low ? 1 : 6;
    level.fill_energy = random.chance(0.5) ? 3 : 1.25;
    level.update_energy = l == 0 ? 40 : random.chance(0.5) ? 1.1 : 8;
    if (random.chance(0.4)) level.network.delivery_energy = 0.7;
    if (l == levels - 2) {
      level.fanout_x = random.between(1, 4);
      level.fanout_y = random.between(1, 3);
    }
    hardware.levels.push_back(level);
  }
  hardware.levels.back().must_keep = 7;
  return hardware;
}

Workload small_workload(Random& random) {
  const int64_t kind = random.between(0, 3);
  if (kind == 0)
    return batched_matmul_workload("b", random.between(1, 3), random.between(1, 6), random.between(1, 6),
                                   random.between(1, 6), false);
  ConvShape shape;
  shape.batch = random.between(1, 2);
  shape.group = random.chance(0.3) ? 2 : 1;
  shape.input_channels = shape.group * random.between(1, 3);
  shape.output_channels = shape.group * random.between(1, 3);
  shape.width = random_window(random);
  if (random.chance(0.5)) shape.height = random_window(random);
  if (kind == 1) return depthwise_workload("d", shape);
  return conv2d_workload("c", shape);
}

Mapspace small_mapspace(Random& random, bool imperfect) {
  while (true) {
    Mapspace mapspace;
    mapspace.imperfect = imperfect;
    mapspace.workload = small_workload(random);
    mapspace.hardware = small_machine(random);
    const size_t levels = mapspace.hardware.levels.size();
    if (random.chance(0.5)) {
      mapspace.constraints.resize(levels);
      LevelConstraints& limits = mapspace.constraints[levels - 2];
      limits.one_axis_per_dimension = random.chance(0.5);
      const size_t dimensions = mapspace.workload.dimensions.size();
      const size_t chosen = size_t(random.between(0, int64_t(dimensions) - 1));
      if (!imperfect && random.chance(0.3)) {
        mapspace.constraints[size_t(random.between(0, int64_t(levels) - 1))].temporal.assign(dimensions,
                                                                                             kFree);
        for (LevelConstraints& level : mapspace.constraints) {
          if (!level.temporal.empty()) level.temporal[chosen] = random.between(1, 2);
        }
      }
      if (!imperfect && random.chance(0.3)) {
        limits.spatial_x.assign(dimensions, kFree);
        limits.spatial_x[chosen] = random.between(1, 2);
      }
      if (levels == 3 && random.chance(0.3)) limits.must_bypass = 1u << random.between(0, 2);
      if (levels == 3 && limits.must_bypass == 0 && random.chance(0.3))
        limits.must_keep = 1u << random.between(0, 2);
    }
    Diagnostics diagnostics;
    mapspace.verify(diagnostics);
    if (diagnostics.ok() && mapspace.size() >= 20 && mapspace.size() <= 20000) return mapspace;
  }
}

double first_objective(MapObjective objective, const Cost& cost) {
  if (objective == MapObjective::kLatency) return double(cost.cycles);
  return objective == MapObjective::kEdp ? cost.edp() : cost.energy;
}

double second_objective(MapObjective objective, const Cost& cost) {
  return objective == MapObjective::kEnergy ? double(cost.cycles) : cost.energy;
}

struct Enumerated {
  int64_t mappings = 0;
  double first = 0, second = 0;
};

Enumerated enumerate(const Mapspace& mapspace, const MapperOptions& options) {
  Enumerated best;
  for_each_mapping(
      mapspace,
      [&](const Mapping& mapping) {
        const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
        if (options.max_cycles && cost.cycles > *options.max_cycles) return;
        const double first = first_objective(options.objective, cost);
        const double second = second_objective(options.objective, cost);
        const double margin = 1e-10 * first;
        if (best.mappings == 0 || first < best.first - margin ||
            (first < best.first + margin && second < best.second))
          best.first = first, best.second = second;
        ++best.mappings;
      },
      options.rules.accounting);
  return best;
}

void compare(uint64_t seed, const CostRules& rules, bool imperfect = false) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Mapspace mapspace = small_mapspace(random, imperfect);
  MapperOptions options;
  options.rules = rules;
  options.objective = MapObjective(random.between(0, 2));
  if (random.chance(0.2)) options.max_cycles = mapspace.workload.operation_count() / 2;
  const Enumerated best = enumerate(mapspace, options);
  const std::optional<MapResult> result = solve_on_lattice(mapspace, options);
  ASSERT_EQ(result.has_value(), best.mappings > 0);
  if (!result) return;
  EXPECT_EQ(result->status, MapStatus::kOptimal);
  EXPECT_TRUE(contains(mapspace, result->mapping, rules.accounting))
      << print_mapping(mapspace.workload, result->mapping);
  EXPECT_NEAR(result->value, best.first, 1e-9 * best.first)
      << print_mapping(mapspace.workload, result->mapping);
  EXPECT_NEAR(second_objective(options.objective, result->cost), best.second, 1e-9 * best.second);
  EXPECT_EQ(result->lower_bound, result->value);
  if (imperfect) return;
  // What the search believed of its mapping is what the counts say.
  ASSERT_GE(result->curve.size(), 2u);
  EXPECT_NEAR(result->curve[result->curve.size() - 2].best, result->value, 1e-12 * result->value);
}

// How many nodes the bounds leave of the mappings: fewer is better, more is a bound that got weaker.
TEST(LatticeSolver, BoundsLeaveFewNodes) {
  double mappings = 0;
  int64_t nodes = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Random random(seed);
    const Mapspace mapspace = small_mapspace(random, false);
    const std::optional<MapResult> result = solve_on_lattice(mapspace, {});
    if (!result) continue;
    mappings += mapspace.size();
    nodes += result->nodes;
  }
  EXPECT_GT(mappings, 290000);
  EXPECT_LE(nodes, 3931);
}

TEST(LatticeSolver, EqualsEnumerationWithTheFieldsAccounting) {
  for (uint64_t seed = 1; seed <= 80; ++seed) compare(seed, kTimeloopRules);
}

TEST(LatticeSolver, EqualsEnumerationWithExactAccounting) {
  for (uint64_t seed = 1001; seed <= 1080; ++seed) compare(seed, kPhysicalRules);
}

TEST(LatticeSolver, EqualsEnumerationWithRemainders) {
  for (uint64_t seed = 2001; seed <= 2060; ++seed) compare(seed, kPhysicalRules, true);
}

Mapspace layer(const ConvShape& shape) {
  Mapspace mapspace;
  mapspace.workload = conv2d_workload("layer", shape);
  for (int l = 0; l < 3; ++l) {
    ArrayLevel level;
    level.name = "l" + std::to_string(l);
    if (l > 0) level.capacity_words = l == 1 ? 4096 : 64;
    level.read_energy = level.fill_energy = level.update_energy = l == 0 ? 200 : l == 1 ? 6 : 1;
    if (l == 1) level.fanout_x = level.fanout_y = 4;
    mapspace.hardware.levels.push_back(level);
  }
  mapspace.hardware.levels[2].must_keep = 7;
  return mapspace;
}

ConvShape middle_shape() {
  ConvShape shape;
  shape.input_channels = 32, shape.output_channels = 48;
  shape.height = {.input = 16, .kernel = 3, .pad_begin = 1, .pad_end = 1, .output = 16};
  shape.width = shape.height;
  return shape;
}

TEST(LatticeSolver, ThreadsChangeNothing) {
  const Mapspace mapspace = layer(middle_shape());
  MapperOptions options;
  options.rules = kTimeloopRules;
  const std::optional<MapResult> one = solve_on_lattice(mapspace, options);
  options.threads = 3;
  const std::optional<MapResult> three = solve_on_lattice(mapspace, options);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->mapping, three->mapping);
  EXPECT_EQ(one->nodes, three->nodes);
  EXPECT_EQ(one->pruned, three->pruned);
  EXPECT_EQ(one->evaluated, three->evaluated);
}

TEST(LatticeSolver, StopsInTimeWithABound) {
  Mapspace mapspace = layer(middle_shape());
  MapperOptions options;
  options.rules = kTimeloopRules;
  const std::optional<MapResult> proven = solve_on_lattice(mapspace, options);
  ASSERT_TRUE(proven);
  for (options.time_limit_s = 1e-9; options.time_limit_s < 2 * proven->seconds + 1e-3;
       options.time_limit_s = 1.5 * options.time_limit_s + 1e-4) {
    const std::optional<MapResult> stopped = solve_on_lattice(mapspace, options);
    if (!stopped) continue;  // nothing found yet
    EXPECT_LE(stopped->lower_bound, proven->value * (1 + 1e-12));
    EXPECT_GE(stopped->value, proven->value * (1 - 1e-12));
    EXPECT_NE(stopped->status, MapStatus::kInfeasible);
  }
}

TEST(LatticeSolver, LeavesOtherCasesAlone) {
  MapperOptions options;
  options.rules = kTimeloopRules;
  const auto taken = [&](const Mapspace& mapspace) {
    return solve_on_lattice(mapspace, options).has_value();
  };
  Mapspace mapspace = layer(middle_shape());
  EXPECT_TRUE(taken(mapspace));
  Mapspace other = mapspace;
  other.imperfect = true;  // only with exact accounting
  EXPECT_FALSE(taken(other));
  other = mapspace, other.hardware.levels[2].must_keep = 3;
  EXPECT_FALSE(taken(other));
  other = mapspace, other.hardware.levels[1].network.hop_energy = 1;
  EXPECT_FALSE(taken(other));
  other = mapspace, other.hardware.levels[1].read_words_per_cycle = 1;
  EXPECT_FALSE(taken(other));
  other = mapspace, other.hardware.levels[2].fanout_x = 2;
  EXPECT_FALSE(taken(other));
}

// Of mappings that tie in energy the fastest, also where every energy is 0.
TEST(LatticeSolver, TiesInEnergyGoToTheFewestCycles) {
  Mapspace mapspace = layer(middle_shape());
  mapspace.workload = matmul_workload("m", 7, 64, 64);
  mapspace.hardware.mac_energy = 0;
  for (ArrayLevel& level : mapspace.hardware.levels)
    level.read_energy = level.fill_energy = level.update_energy = 0;
  mapspace.hardware.levels[1].capacity_words = 65536;
  mapspace.hardware.levels[1].fanout_x = mapspace.hardware.levels[1].fanout_y = 16;
  mapspace.hardware.levels[2].capacity_words = 256;
  for (const bool imperfect : {false, true}) {
    mapspace.imperfect = imperfect;
    const std::optional<MapResult> result = solve_on_lattice(mapspace, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, MapStatus::kOptimal);
    EXPECT_EQ(result->cost.energy, 0);
    EXPECT_EQ(result->cost.cycles, 112);
  }
}

// Energies of 0 at some or all places, so that many mappings tie.
TEST(LatticeSolverClass, TiesInEnergyGoToTheFewestCycles) {
  const int64_t cases = test_cases(40);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    Mapspace mapspace = small_mapspace(random, random.chance(0.4));
    const double zero = random.chance(0.5) ? 1 : 0.6;
    for (ArrayLevel& level : mapspace.hardware.levels) {
      for (double* energy :
           {&level.read_energy, &level.fill_energy, &level.update_energy, &level.network.delivery_energy})
        if (random.chance(zero)) *energy = 0;
    }
    MapperOptions options;
    const Enumerated best = enumerate(mapspace, options);
    const std::optional<MapResult> result = solve_on_lattice(mapspace, options);
    ASSERT_EQ(result.has_value(), best.mappings > 0);
    if (!result) continue;
    ASSERT_NEAR(result->cost.energy, best.first, 1e-9 * best.first);
    ASSERT_EQ(double(result->cost.cycles), best.second);
  }
}

}  // namespace
}  // namespace tilewright
