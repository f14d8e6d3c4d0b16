#include "tilewright/search/tuning/exhaustive.h"

#include <gtest/gtest.h>

#include "tilewright/search/tuning/tuning_test_support.h"

namespace tilewright {
namespace {

TEST(ExhaustiveSearch, FindsTheOptimumWithoutMeasuringWhatCannotWin) {
  for (const bool fails : {false, true}) {
    BlockedProduct problem(32, fails);
    const ExhaustiveResult result = exhaustive_search(problem, {.threads = 2, .batch = 16});
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.combinations, problem.space().size());
    EXPECT_EQ(result.valid, problem.valid_points().size());
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.best->cost, problem.optimum());
    EXPECT_EQ(result.measured + result.excluded, result.valid);
    EXPECT_GT(result.excluded, result.valid / 2);
    EXPECT_EQ(result.failed > 0, fails);
    EXPECT_EQ(problem.repeated(), 0);
    // What was left out could not have won.
    for (const KnobSpace::Point point : problem.valid_points()) {
      if (problem.cost(point)) {
        EXPECT_GE(*problem.cost(point), *result.best->cost);
      }
    }
  }
}

TEST(ExhaustiveSearch, MeasuresNoPointWhoseBoundIsNoBetterThanTheBest) {
  BlockedProduct problem(32);
  const ExhaustiveResult result = exhaustive_search(problem, {.threads = 1, .batch = 1});
  uint64_t better = 0;
  for (const KnobSpace::Point point : problem.valid_points()) {
    better += problem.bound(point) < *result.best->cost ? 1 : 0;
  }
  EXPECT_EQ(result.measured, better);
}

TEST(ExhaustiveSearch, GivesTheSamePointOnAnyNumberOfThreads) {
  BlockedProduct one(48), three(48);
  const auto a = exhaustive_search(one, {.threads = 1}), b = exhaustive_search(three, {.threads = 3});
  EXPECT_EQ(a.best->point, b.best->point);
  EXPECT_EQ(a.measured, b.measured);
}

TEST(ExhaustiveSearch, EndsWhereTheWatcherSaysSo) {
  BlockedProduct problem(32);
  const ExhaustiveResult result =
      exhaustive_search(problem, {.threads = 1, .batch = 4}, [](const ExhaustiveResult&) { return false; });
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.measured, 4u);
}

}  // namespace
}  // namespace tilewright
