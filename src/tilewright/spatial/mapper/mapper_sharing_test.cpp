// Searches for different objectives on one layer: none may find, in passing, what the search for it missed.
#include "tilewright/spatial/mapper/mapper_sharing.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "support/spatial/baselines_testing.h"
#include "support/spatial/random_mapspace_testing.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/search/deadline.h"

namespace tilewright {
namespace {

constexpr MapObjective kObjectives[] = {MapObjective::kEnergy, MapObjective::kLatency, MapObjective::kEdp};

// Sizes of networks, primes among them: 1x1, 3x3 and depthwise layers.
Workload network_layer(Random& random) {
  const int64_t channels[] = {3, 13, 16, 17, 24, 32, 37, 48, 64};
  ConvShape shape;
  shape.input_channels = channels[random.between(0, 8)];
  shape.output_channels = channels[random.between(0, 8)];
  const int64_t rows[] = {7, 13, 14, 17, 19, 27, 28};
  shape.height.output = rows[random.between(0, 6)];
  shape.height.kernel = random.chance(0.5) ? 1 : 3;
  shape.height.stride = random.chance(0.7) ? 1 : 2;
  shape.height.input = (shape.height.output - 1) * shape.height.stride + shape.height.kernel;
  shape.width = shape.height;
  return random.chance(0.2) ? depthwise_workload("d", shape) : conv2d_workload("c", shape);
}

ArrayHardware array_machine(Random& random) {
  ArrayHardware hardware;
  hardware.name = "array";
  hardware.mac_energy = 1;
  for (int l = 0; l < 3; ++l) {
    ArrayLevel level;
    level.name = l == 0 ? "dram" : l == 1 ? "buffer" : "rf";
    level.read_energy = level.fill_energy = level.update_energy = l == 0 ? 200 : l == 1 ? 6 : 1;
    if (l == 1) level.capacity_words = int64_t{1} << random.between(10, 16);
    if (l == 2) level.capacity_words = int64_t{1} << random.between(4, 9);
    if (l == 1) level.fanout_x = random.between(4, 16), level.fanout_y = random.between(4, 16);
    if (l == 1) level.network.delivery_energy = 2;
    // Some machines are none of the special solver's.
    if (l == 2 && random.chance(0.3)) level.read_words_per_cycle = 2;
    if (l == 2 && random.chance(0.7)) level.must_keep = 7;
    hardware.levels.push_back(level);
  }
  return hardware;
}

double value_of(MapObjective objective, const Cost& cost) { return objective_value(objective, cost); }

// Neighbours that are better, from a random mapping, again and again.
std::optional<Cost> greedy(const Mapspace& mapspace, const MapperOptions& options, double seconds,
                           Random& random) {
  const MapspaceSampling space(mapspace, options);
  const Deadline time(seconds);
  std::optional<SlotMapping> best, at;
  std::optional<MapValue> best_value, value;
  for (int stale = 0; time.seconds() < seconds; ++stale) {
    if (!at || stale > 300) {
      at = space.sample(random);
      value = space.cost(*at);
      stale = 0;
      if (!value) at.reset();
    } else {
      SlotMapping next = space.neighbour(*at, random);
      const std::optional<MapValue> moved = space.cost(next);
      if (!moved || !(*moved < *value)) continue;
      at = std::move(next), value = moved;
      stale = 0;
    }
    if (value && (!best_value || *value < *best_value)) best = at, best_value = value;
  }
  if (!best) return {};
  return evaluate_mapping(mapspace.workload, mapspace.hardware, space.choices().build(*best), options.rules);
}

TEST(MapObjectives, TheHigherOfTwoBoundsStands) {
  EXPECT_EQ(joint_bound({3, 5}, 10), 5);
  EXPECT_EQ(joint_bound({5, 3}, 10), 5);
  EXPECT_EQ(joint_bound({5, 3}, 4), 4);  // not above what was found, but for rounding
}

TEST(MapObjectivesClass, NoOtherSearchFindsWhatTheObjectivesOwnMissed) {
  // What the fast suite affords is coarse, and other programs take time from it. Searches that were stopped
  // are samples: with seconds to work in they come within a hundredth of one another.
  const int64_t cases = test_cases(1);
  const bool thorough = cases > 1;
  const double seconds = thorough ? 2 : 0.6, margin = thorough ? 1.01 : 1.5;
  int64_t compared = 0;
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    const Mapspace mapspace{network_layer(random), array_machine(random), {}, random.chance(0.7)};
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << "\n"
                                    << print_workload(mapspace.workload));
    MapperOptions options;
    options.time_limit_s = seconds;
    std::vector<MapResult> results;
    for (const MapObjective objective : kObjectives) {
      options.objective = objective;
      results.push_back(find_mapping(mapspace, options));
      if (results.back().mapping.levels.empty()) break;
      EXPECT_TRUE(contains(mapspace, results.back().mapping));
    }
    if (results.size() != std::size(kObjectives) || results.back().mapping.levels.empty()) continue;
    for (size_t own = 0; own < std::size(kObjectives); ++own) {
      const MapObjective objective = kObjectives[own];
      const double value = value_of(objective, results[own].cost);
      for (const MapResult& other : results) {
        EXPECT_LE(value, value_of(objective, other.cost) * margin) << "objective " << own;
      }
      ++compared;
      if (!thorough) continue;
      options.objective = objective;
      SearchLimits limits;
      limits.seconds = seconds;
      const BaselineResult sampled =
          run_baseline(mapspace, options, Baseline::kRandom, limits, test_seed() + uint64_t(i));
      if (sampled.mapping) {
        EXPECT_LE(value, sampled.value * margin) << "objective " << own;
      }
      const std::optional<Cost> climbed = greedy(mapspace, options, seconds, random);
      if (climbed) {
        EXPECT_LE(value, value_of(objective, *climbed) * margin) << "objective " << own;
      }
    }
  }
  EXPECT_GT(compared, 0);
  RecordProperty("cases", int(cases));
}

// The same without a clock, on a layer whose sizes are prime.
TEST(MapLocalSearch, ObjectivesAgreeOnAPrimeLayer) {
  ConvShape shape;
  shape.input_channels = 13, shape.output_channels = 37;
  shape.height.input = shape.height.output = 17;
  shape.width = shape.height;
  const Mapspace mapspace{
      conv2d_workload("c", shape),
      find_array_hardware("eyeriss-256", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware"),
      {},
      true};
  SearchLimits half;
  half.evaluations = 3000;
  constexpr MapObjective kTwo[] = {MapObjective::kEnergy, MapObjective::kEdp};
  std::vector<Cost> costs;
  MapperOptions options;
  for (const MapObjective objective : kTwo) {
    options.objective = objective;
    const MapspaceSampling space(mapspace, options);
    const std::optional<SlotMapping> found = local_best(space, 1, half);
    ASSERT_TRUE(found);
    const Mapping mapping = space.choices().build(*found);
    EXPECT_TRUE(contains(mapspace, mapping));
    costs.push_back(evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules));
  }
  for (size_t own = 0; own < std::size(kTwo); ++own) {
    options.objective = kTwo[own];
    SearchLimits whole;
    whole.evaluations = 2 * half.evaluations;
    const double value = value_of(kTwo[own], costs[own]);
    EXPECT_LE(value, value_of(kTwo[own], costs[1 - own]) * 1.01);
    EXPECT_LE(value, run_baseline(mapspace, options, Baseline::kRandom, whole, 1).value * 1.01);
  }
}

// A search that begins with a mapping ends with none that is worse, however short it is.
TEST(MapObjectivesClass, AStartIsNeverLost) {
  const int64_t cases = test_cases(8);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'033 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const Mapspace mapspace = random_mapspace(random, 200, 1e7, 2000);
    MapperOptions options;
    options.objective = MapObjective(random.between(0, 2));
    SearchLimits limits;
    limits.evaluations = 300;
    const BaselineResult sampled = run_baseline(mapspace, options, Baseline::kAnnealing, limits, 1);
    if (!sampled.mapping) continue;
    const MapspaceSampling space(mapspace, options);
    ASSERT_EQ(space.choices().build(space.choices().flatten(*sampled.mapping)), *sampled.mapping);
    options.start = &*sampled.mapping;
    options.time_limit_s = 0.002;
    const MapResult result = search_mapping(mapspace, options);
    if (result.status == MapStatus::kStopped && result.mapping.levels.empty()) continue;
    EXPECT_LE(result.value, sampled.value * (1 + 1e-9));
  }
  RecordProperty("cases", int(cases));
}

// Whatever the time, a result is a mapping of the mapspace: its fixed factors, which need not divide, hold.
TEST(MapObjectivesClass, AStoppedSearchKeepsTheConstraints) {
  const int64_t cases = test_cases(60);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'037 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const Mapspace mapspace = random_mapspace(random, 50, 1e6, 2000);
    MapperOptions options;
    options.objective = MapObjective(random.between(0, 2));
    options.time_limit_s = 1e-4 * double(random.between(1, 50));
    const MapResult result = find_mapping(mapspace, options);
    if (!result.found()) continue;
    EXPECT_TRUE(contains(mapspace, result.mapping)) << print_mapping(mapspace.workload, result.mapping);
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
