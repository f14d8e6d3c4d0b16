#include "tilewright/search/knobs/knob_space.h"

#include <gtest/gtest.h>

#include <map>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

KnobSpace small_space() {
  return KnobSpace({Knob::integers("rows", {1, 2, 4, 8}), Knob::integers("cols", {1, 3, 5}),
                    Knob::choices("order", {"inner", "outer"})},
                   [](const std::vector<int64_t>& v) { return v[0] * v[1] <= 12; });
}

TEST(KnobSpace, PointsAndValuesAreOneToOne) {
  const KnobSpace space = small_space();
  ASSERT_EQ(space.size(), 24u);
  for (KnobSpace::Point p = 0; p < space.size(); ++p) {
    const std::vector<int64_t> values = space.values(p);
    EXPECT_EQ(space.find(values), p);
    EXPECT_EQ(space.valid(p), values[0] * values[1] <= 12);
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(space.with_digit(p, k, space.digit(p, k)), p);
  }
  EXPECT_EQ(space.find({3, 1, 0}), std::nullopt);
  EXPECT_EQ(space.find({1, 1}), std::nullopt);
  EXPECT_FALSE(space.valid(24));
  EXPECT_EQ(space.print(*space.find({4, 3, 1})), "rows=4 cols=3 order=outer");
}

TEST(KnobSpace, SamplesAreUniformOverValidPoints) {
  const KnobSpace space = small_space();
  Random random(5);
  std::map<KnobSpace::Point, int> seen;
  const int draws = 18000;
  for (int i = 0; i < draws; ++i) ++seen[space.sample(random).value()];
  int valid = 0;
  for (KnobSpace::Point p = 0; p < space.size(); ++p) valid += space.valid(p);
  ASSERT_EQ(int(seen.size()), valid);
  for (const auto& [point, count] : seen) EXPECT_NEAR(count, draws / valid, 0.15 * draws / valid);
}

TEST(KnobSpace, NeighboursAndChildrenAreValid) {
  const KnobSpace space = small_space();
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const KnobSpace::Point a = *space.sample(random), b = *space.sample(random);
    const KnobSpace::Point next = space.neighbour(a, random);
    EXPECT_TRUE(space.valid(next));
    EXPECT_NE(next, a);
    const KnobSpace::Point child = space.crossover(a, b, random);
    EXPECT_TRUE(space.valid(child));
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_TRUE(space.digit(child, k) == space.digit(a, k) || space.digit(child, k) == space.digit(b, k));
    }
  }
}

TEST(KnobSpace, NothingValidIsNoPoint) {
  const KnobSpace space({Knob::integers("a", {1, 2})}, [](const auto&) { return false; });
  Random random(1);
  EXPECT_EQ(space.sample(random, 100), std::nullopt);
  EXPECT_EQ(space.neighbour(1, random), 1u);
}

TEST(KnobSpace, Kinds) {
  EXPECT_EQ(Knob::divisors("d", 12).values, (std::vector<int64_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(Knob::tile_sizes("t", 7).values, (std::vector<int64_t>{1, 2, 3, 4, 7}));
  EXPECT_EQ(Knob::tile_sizes("t", 7, 2).values, (std::vector<int64_t>{2, 4, 7}));
}

TEST(KnobSpace, RefusesNonsense) {
  EXPECT_THROW(KnobSpace({Knob::integers("a", {})}), Error);
  EXPECT_THROW(KnobSpace({Knob::integers("a", {1}), Knob::integers("a", {2})}), Error);
  EXPECT_THROW(KnobSpace({Knob::integers("a", {1, 1})}), Error);
  EXPECT_THROW(small_space().knob("colour"), Error);
  std::vector<Knob> many;
  for (int i = 0; i < 40; ++i) many.push_back(Knob::integers("k" + std::to_string(i), {1, 2, 3, 4}));
  EXPECT_THROW(KnobSpace{many}, Error);
}

}  // namespace
}  // namespace tilewright
