#include "tilewright/spatial/mapper/mapper_pareto.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "support/spatial/mapper_testing.h"

namespace tilewright {
namespace {

using Point = std::tuple<double, int64_t, int64_t>;

int64_t words_at(const Mapspace& mapspace, const AccessCounts& counts, int level) {
  int64_t words = 0;
  const int spaces = mapspace.workload.data_space_count();
  for (int space = 0; space < spaces; ++space) {
    words +=
        counts.tile_words[size_t(level * spaces + space)] * mapspace.hardware.levels[size_t(level)].copies;
  }
  return words;
}

bool covered(const Point& by, const Point& point) {
  return std::get<0>(by) <= std::get<0>(point) * (1 + 1e-12) && std::get<1>(by) <= std::get<1>(point) &&
         std::get<2>(by) <= std::get<2>(point);
}

TEST(MapPareto, EqualsTheFrontOfTheEnumeration) {
  int64_t points = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 50, 2000);
    const MapperOptions options = random_options(random);
    const int level = int(mapspace.hardware.levels.size()) - 1;
    const std::vector<CountingNetwork> networks = counting_networks(mapspace.hardware);
    const auto point_of = [&](const Mapping& mapping) {
      const AccessCounts counts =
          count_accesses(mapspace.workload, mapping, networks, options.rules.accounting);
      const Cost cost = cost_of_counts(mapspace.workload, mapspace.hardware, counts, options.rules);
      return Point{cost.energy, cost.cycles, words_at(mapspace, counts, level)};
    };
    const MapFront front = map_pareto(mapspace, level, options);
    std::vector<Point> found;
    for (const MapPoint& p : front.points) {
      EXPECT_TRUE(contains(mapspace, p.mapping, options.rules.accounting));
      EXPECT_EQ((Point{p.energy, p.cycles, p.buffer_words}), point_of(p.mapping));
      found.push_back({p.energy, p.cycles, p.buffer_words});
    }
    int64_t mappings = 0, beaten = 0;
    for_each_mapping(
        mapspace,
        [&](const Mapping& mapping) {
          ++mappings;
          const Point point = point_of(mapping);
          const auto covers = [&](const Point& by) { return covered(by, point); };
          if (!std::any_of(found.begin(), found.end(), covers)) ++beaten;
        },
        options.rules.accounting);
    EXPECT_EQ(beaten, 0);
    EXPECT_EQ(front.status, mappings > 0 ? MapStatus::kOptimal : MapStatus::kInfeasible);
    for (size_t i = 0; i < found.size(); ++i) {
      for (size_t j = 0; j < found.size(); ++j) EXPECT_TRUE(i == j || !covered(found[i], found[j]));
    }
    points += int64_t(found.size());
  }
  EXPECT_GT(points, 100);
}

TEST(MapPareto, RefusesALevelThatIsNotThere) {
  Random random(7);
  const Mapspace mapspace = random_mapspace(random, 50, 2000);
  EXPECT_THROW(map_pareto(mapspace, 9, {}), Error);
}

}  // namespace
}  // namespace tilewright
