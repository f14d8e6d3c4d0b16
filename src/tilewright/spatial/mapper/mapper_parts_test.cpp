// The parts of the exact mapper, each against its definition.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/spatial/mapper_testing.h"
#include "tilewright/spatial/mapper/mapper_tree.h"
#include "tilewright/spatial/mapper/mapper_values.h"
#include "tilewright/spatial/mapper/mapspace_sampling.h"

namespace tilewright {
namespace {

TEST(MapperOrders, TheSubsetRecursionFindsTheBestOfAllOrders) {
  int64_t orders_tried = 0, evaluated = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 200, 20000);
    const MapperOptions options = random_options(random);
    const MapspaceSampling space(mapspace, options);
    const SlotEvaluator evaluator(mapspace, space.choices(), options.rules);
    SlotMapping mapping = space.sample(random);
    if (!evaluator.valid(mapping)) continue;
    const std::vector<CountingNetwork> networks = counting_networks(mapspace.hardware);
    const auto measure = [&](const std::vector<std::vector<int>>& orders) {
      mapping.orders = orders;
      const AccessCounts counts = evaluator.counts(mapping);
      return OrderMeasure{cost_of_counts(mapspace.workload, mapspace.hardware, counts, options.rules).energy,
                          {}};
    };
    const MapperBounds bounds(mapspace, space.choices(), options.rules);
    const auto settled = [&](int level, const std::vector<int>& inside) {
      return bounds.settled(mapping.factors, mapping.keeps, level, inside);
    };
    int64_t evaluations = 0;
    const auto found = best_orders(space.choices(), mapping.factors, measure, settled, evaluations);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].measure.energy, measure(found[0].orders).energy, 1e-12 * found[0].measure.energy);

    double best = std::numeric_limits<double>::infinity();
    std::vector<std::vector<int>> orders = found[0].orders;
    const std::function<void(size_t)> permute = [&](size_t level) {
      if (level == orders.size()) {
        best = std::min(best, measure(orders).energy);
        ++orders_tried;
        return;
      }
      std::vector<int> all = orders[level];
      std::sort(all.begin(), all.end());
      do {
        orders[level] = all;
        if (space.choices().constrained_order(int(level), all) == all) permute(level + 1);
      } while (std::next_permutation(all.begin(), all.end()));
    };
    permute(0);
    evaluated += evaluations;
    EXPECT_NEAR(found[0].measure.energy, best, 1e-12 * best);
  }
  EXPECT_LT(evaluated, orders_tried);
}

// What local searches move: loops alone, kept data alone, factors; never nothing but where nothing can move.
TEST(MapspaceSampling, NeighboursMoveEveryPart) {
  Random random(4);
  int64_t loops = 0, keeps = 0, factors = 0, same = 0;
  for (int i = 0; i < 40; ++i) {
    const Mapspace mapspace = random_mapspace(random, 200, 20000);
    const MapspaceSampling space(mapspace, {});
    for (int tries = 0; tries < 50; ++tries) {
      const SlotMapping from = space.sample(random), to = space.neighbour(from, random);
      factors += to.factors != from.factors;
      keeps += to.factors == from.factors && to.keeps != from.keeps;
      loops += to.factors == from.factors && to.keeps == from.keeps && to.orders != from.orders;
      same += to == from;
    }
  }
  EXPECT_GT(factors, 800);
  EXPECT_GT(keeps, 50);
  EXPECT_GT(loops, 50);
  EXPECT_LT(same, 400);
}

TEST(MapperBounds, StepsOfKnownFactorsAreExact) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    Mapspace mapspace = random_mapspace(random, 200, 20000);
    const MapspaceSampling space(mapspace, {});
    const SlotEvaluator evaluator(mapspace, space.choices(), {});
    const MapperBounds bounds(mapspace, space.choices(), {});
    const SlotMapping mapping = space.sample(random);
    if (evaluator.valid(mapping)) {
      EXPECT_EQ(bounds.exact_steps(mapping.factors), evaluator.counts(mapping).steps);
    }
  }
}

TEST(SlotEvaluator, SaysWhatTheChecksAndTheClosedFormsSay) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 100, 20000);
    const MapperOptions options = random_options(random);
    const MapspaceSampling space(mapspace, options);
    const SlotEvaluator evaluator(mapspace, space.choices(), options.rules);
    const SlotMapping mapping = space.neighbour(space.sample(random), random);
    const Mapping built = space.choices().build(mapping);
    EXPECT_EQ(evaluator.valid(mapping), contains(mapspace, built, options.rules.accounting));
    if (!evaluator.valid(mapping)) continue;
    const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, built, options.rules);
    EXPECT_EQ(evaluator.cost(mapping).energy, cost.energy);
    EXPECT_EQ(evaluator.cost(mapping).cycles, cost.cycles);
  }
}

// Operands whose elements lie apart (coefficient 2 alone in a rank) take a path of their own in the fast
// form.
TEST(SlotEvaluator, AgreesWhereTilesHaveGaps) {
  Mapspace mapspace;
  mapspace.workload.name = "gaps";
  mapspace.workload.dimensions = {{"D0", 1}, {"D1", 3}, {"D2", 4}};
  mapspace.workload.data_spaces.resize(3);
  const std::vector<std::vector<ProjectionTerm>> terms[] = {
      {{{2, 2}}, {{1, 2}}}, {{{1, 1}, {2, 3}}}, {{{2, 1}}}};
  for (size_t s = 0; s < 3; ++s) {
    DataSpace& space = mapspace.workload.data_spaces[s];
    space.name = fmt::format("s{}", s);
    space.is_output = s == 2;
    for (size_t r = 0; r < terms[s].size(); ++r)
      space.ranks.push_back({fmt::format("r{}", r), 40, 0, terms[s][r]});
  }
  mapspace.hardware.name = "two";
  mapspace.hardware.levels.resize(2);
  for (size_t l = 0; l < 2; ++l) {
    mapspace.hardware.levels[l].name = fmt::format("l{}", l);
    mapspace.hardware.levels[l].read_energy = l == 0 ? 10 : 1;
  }
  mapspace.hardware.levels[1].capacity_words = 24;
  mapspace.hardware.levels[0].fanout_x = 2;
  const MapperOptions options{.rules = kTimeloopRules};
  const MapspaceSampling space(mapspace, options);
  ASSERT_TRUE(space.fast());
  Random random(1);
  int64_t valid = 0;
  for (int i = 0; i < 500; ++i) {
    const SlotMapping mapping = space.sample(random);
    const std::optional<MapValue> value = space.cost(mapping);
    if (!value) continue;
    ++valid;
    const Cost cost =
        evaluate_mapping(mapspace.workload, mapspace.hardware, space.choices().build(mapping), options.rules);
    EXPECT_EQ(value->primary, space.scale().key(cost.energy));
  }
  EXPECT_GT(valid, 100);
}

TEST(EnergyScale, KeysOfBoundsStayBelowKeysOfEnergies) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Mapspace mapspace = random_mapspace(random, 20, 20000);
    const EnergyScale scale(mapspace);
    for (int i = 0; i < 100; ++i) {
      const double energy = double(random.between(0, 1'000'000)) / 10;
      EXPECT_LE(scale.bound_key(energy * (1 + 1e-15)), scale.key(energy * (1 - 1e-15)));
      EXPECT_NEAR(scale.key(energy) * scale.quantum(), energy, scale.quantum());
    }
  }
}

TEST(EnergyScale, EqualDecimalSumsHaveOneKeyAndPruneEachOther) {
  Mapspace mapspace;
  mapspace.workload = matmul_workload("m", 4, 4, 4);
  mapspace.hardware.levels.resize(1);
  mapspace.hardware.mac_energy = 0.1;
  const EnergyScale scale(mapspace);
  EXPECT_DOUBLE_EQ(scale.quantum(), 0.1);
  double sum = 0;
  for (int i = 0; i < 10; ++i) sum += 0.3;
  ASSERT_NE(sum, 3.0);
  EXPECT_EQ(scale.key(sum), 30);
  EXPECT_EQ(scale.bound_key(sum), 30);
}

}  // namespace
}  // namespace tilewright
