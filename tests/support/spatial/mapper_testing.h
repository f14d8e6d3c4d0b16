// Holds the mapper against the enumeration of a mapspace.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>

#include "support/spatial/random_mapspace_testing.h"
#include "tilewright/spatial/mapper/mapper.h"

namespace tilewright {

inline MapperOptions random_options(Random& random) {
  MapperOptions options;
  options.objective = MapObjective(random.between(0, 2));
  if (random.chance(0.4)) options.rules = kTimeloopRules;
  return options;
}

struct EnumeratedBest {
  int64_t mappings = 0;
  double first = std::numeric_limits<double>::infinity();  // of the objective
  double second = 0;                                       // its tie-break, best among the ties
  int64_t fastest = std::numeric_limits<int64_t>::max();
};

inline std::pair<double, double> objectives(MapObjective objective, const Cost& cost) {
  switch (objective) {
    case MapObjective::kEnergy:
      return {cost.energy, double(cost.cycles)};
    case MapObjective::kLatency:
      return {double(cost.cycles), cost.energy};
    case MapObjective::kEdp:
      return {cost.edp(), cost.energy};
  }
  return {};
}

// Values whose difference is rounding are ties.
inline EnumeratedBest enumerate_best(const Mapspace& mapspace, const MapperOptions& options,
                                     const std::function<Cost(const Mapping&)>& evaluate) {
  constexpr double kTie = 1e-12;
  EnumeratedBest best;
  for_each_mapping(
      mapspace,
      [&](const Mapping& mapping) {
        const Cost cost = evaluate(mapping);
        best.fastest = std::min(best.fastest, cost.cycles);
        if (options.max_cycles && cost.cycles > *options.max_cycles) return;
        ++best.mappings;
        const auto [first, second] = objectives(options.objective, cost);
        if (first < best.first * (1 - kTie)) {
          best.first = first;
          best.second = second;
        } else if (first <= best.first * (1 + kTie)) {
          best.first = std::min(best.first, first);
          best.second = std::min(best.second, second);
        }
      },
      options.rules.accounting);
  return best;
}

// The mapper's answer, with every bound checked if `check_bounds`, against the enumeration.
inline MapResult expect_optimum(const Mapspace& mapspace, const MapperOptions& options,
                                const std::function<Cost(const Mapping&)>& evaluate) {
  const EnumeratedBest best = enumerate_best(mapspace, options, evaluate);
  const MapResult result = find_mapping(mapspace, options);
  if (best.mappings == 0) {
    EXPECT_EQ(result.status, MapStatus::kInfeasible);
    EXPECT_NE(result.infeasible_reason, "");
    return result;
  }
  EXPECT_EQ(result.status, MapStatus::kOptimal);
  if (result.status != MapStatus::kOptimal) return result;
  EXPECT_TRUE(contains(mapspace, result.mapping, options.rules.accounting));
  const auto [first, second] = objectives(options.objective, evaluate(result.mapping));
  EXPECT_NEAR(result.value, first, 1e-12 * first);
  EXPECT_NEAR(first, best.first, 1e-12 * best.first);
  EXPECT_NEAR(second, best.second, 1e-12 * best.second);
  EXPECT_EQ(result.lower_bound, result.value);
  return result;
}

}  // namespace tilewright
