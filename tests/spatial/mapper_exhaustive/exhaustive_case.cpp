#include "exhaustive_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/nest/count_walker_testing.h"
#include "support/spatial/mapper_testing.h"

namespace tilewright {
namespace {

constexpr int64_t kLeastMappings = 1000, kMostOperations = 48;

// Valid mappings of the mapspace; none if they are fewer than `least` or more than `most`.
std::vector<Mapping> all_mappings(const Mapspace& mapspace, Accounting accounting, int64_t most) {
  struct TooMany {};
  std::vector<Mapping> mappings;
  try {
    for_each_mapping(
        mapspace,
        [&](const Mapping& mapping) {
          if (int64_t(mappings.size()) == most) throw TooMany{};
          mappings.push_back(mapping);
        },
        accounting);
  } catch (const TooMany&) {
    return {};
  }
  if (int64_t(mappings.size()) < kLeastMappings) mappings.clear();
  return mappings;
}

void take_down(const Mapspace& mapspace, const MapperOptions& options, int64_t mappings,
               ExhaustiveTally& tally) {
  ++tally.mapspaces;
  tally.mappings += mappings;
  tally.imperfect += mapspace.imperfect ? 1 : 0;
  tally.constrained += mapspace.constraints.empty() ? 0 : 1;
  tally.with_limit += options.max_cycles ? 1 : 0;
  tally.checked += options.check_bounds ? 1 : 0;
  tally.timeloop += options.rules.accounting == Accounting::kTimeloop ? 1 : 0;
  ++tally.levels[mapspace.hardware.levels.size()];
  ++tally.objectives[size_t(options.objective)];
  const bool ports = std::any_of(
      mapspace.hardware.levels.begin(), mapspace.hardware.levels.end(),
      [](const ArrayLevel& level) { return level.read_words_per_cycle + level.write_words_per_cycle > 0; });
  tally.with_ports += ports ? 1 : 0;
}

}  // namespace

void ExhaustiveTally::print() const {
  fmt::print(
      "{} mapspaces, {} mappings walked; levels 1-4: {} {} {} {}; energy {}, latency {}, edp {}; imperfect "
      "{}, "
      "constrained {}, bandwidths {}, cycle limits {}, timeloop rules {}, every bound checked {}\n",
      mapspaces, mappings, levels[1], levels[2], levels[3], levels[4], objectives[0], objectives[1],
      objectives[2], imperfect, constrained, with_ports, with_limit, timeloop, checked);
}

void compare_with_walker(uint64_t seed, int64_t most, ExhaustiveTally& tally) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const double least = 1.5 * double(kLeastMappings);
  most = int64_t(least * std::pow(double(most) / least, random.uniform()));
  Mapspace mapspace;
  std::vector<Mapping> mappings;
  const size_t levels = seed % 10 == 0 ? 1 : 2 + seed % 3;
  // One level has only orders and splits to choose from: more dimensions are needed for as many mappings.
  const int64_t operations = levels == 1 ? 3 * kMostOperations : kMostOperations;
  MapperOptions options = random_options(random);
  while (mappings.empty()) {
    mapspace = random_mapspace(random, kLeastMappings, 4 * double(most), operations);
    if (mapspace.hardware.levels.size() == levels)
      mappings = all_mappings(mapspace, options.rules.accounting, most);
  }
  const std::vector<CountingNetwork> networks = counting_networks(mapspace.hardware);
  const auto walked = [&](const Mapping& mapping) {
    const AccessCounts counts = walk_accesses(mapspace.workload, mapping, networks, options.rules.accounting);
    return cost_of_counts(mapspace.workload, mapspace.hardware, counts, options.rules);
  };
  std::vector<Cost> costs;
  for (const Mapping& mapping : mappings) costs.push_back(walked(mapping));
  if (random.chance(0.3))
    options.max_cycles = costs[size_t(random.between(0, int64_t(costs.size()) - 1))].cycles;
  options.check_bounds = mappings.size() < 20'000 && random.chance(0.3);
  options.threads = int(random.between(1, 2));
  options.use_lattice = random.chance(0.5);
  take_down(mapspace, options, int64_t(mappings.size()), tally);

  double first = std::numeric_limits<double>::infinity(), second = first;
  const auto within = [&](const Cost& c) { return !options.max_cycles || c.cycles <= *options.max_cycles; };
  for (const Cost& cost : costs) {
    if (within(cost)) first = std::min(first, objectives(options.objective, cost).first);
  }
  for (const Cost& cost : costs) {
    const auto [f, s] = objectives(options.objective, cost);
    if (within(cost) && f <= first * (1 + 1e-12)) second = std::min(second, s);
  }
  const MapResult result = find_mapping(mapspace, options);
  ASSERT_EQ(result.status, MapStatus::kOptimal);
  EXPECT_NE(std::find(mappings.begin(), mappings.end(), result.mapping), mappings.end());
  const auto [f, s] = objectives(options.objective, walked(result.mapping));
  EXPECT_NEAR(f, first, 1e-12 * first);
  EXPECT_NEAR(s, second, 1e-12 * second);
  EXPECT_NEAR(result.value, first, 1e-12 * first);
}

}  // namespace tilewright
