#include <gtest/gtest.h>

#include <numeric>
#include <tuple>

#include "support/random_seed_testing.h"
#include "support/search/exhaustive_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/search/tuning/tuning_testing.h"

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
    EXPECT_LE(result.failed, result.measured);
    EXPECT_EQ(result.cached, 0u);
    EXPECT_EQ(problem.repeated(), 0);
    // What was left out could not have won.
    for (const KnobSpace::Point point : problem.valid_points()) {
      if (problem.cost(point)) {
        EXPECT_GE(*problem.cost(point), *result.best->cost);
      }
    }
  }
}

// A problem without bounds, whose points fail or come from a cache by their number.
class FlatProblem final : public TuningProblem {
 public:
  explicit FlatProblem(uint64_t modulus) : modulus_(modulus), space_({Knob::tile_sizes("a", 720)}, {}) {}
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point) const override { return {}; }
  double bound(KnobSpace::Point) const override { return 0; }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<Measurement> all;
    for (const KnobSpace::Point point : points) {
      Measurement& one = all.emplace_back();
      one.point = point;
      if (point % modulus_ != 0) one.cost = 1.0 + double(point / 3);  // several points have the same cost
      one.cached = point % 2 == 0;
    }
    return all;
  }

 private:
  uint64_t modulus_;
  KnobSpace space_;
};

TEST(ExhaustiveSearchClass, CountsWhatFailedWhatWasCachedAndKeepsTheFirstOfEqualOnes) {
  for (const uint64_t modulus : {2, 3, 5, 1000}) {
    for (const int batch : {1, 7, 64}) {
      FlatProblem problem(modulus);
      const ExhaustiveResult result = exhaustive_search(problem, {.threads = 2, .batch = batch});
      const uint64_t size = problem.space().size();
      EXPECT_EQ(result.measured, size);
      EXPECT_EQ(result.failed, (size + modulus - 1) / modulus);
      EXPECT_EQ(result.cached, (size + 1) / 2);
      ASSERT_TRUE(result.best);
      EXPECT_EQ(result.best->point, 1u);  // 0 fails; 2 costs the same where it does not
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

// A list of points with few different costs and bounds.
class TiedProblem final : public TuningProblem {
 public:
  explicit TiedProblem(Random& random)
      : costs_(size_t(random.between(2, 20))), bounds_(costs_.size()), space_({knob(costs_.size())}) {
    for (size_t i = 0; i < costs_.size(); ++i) {
      costs_[i] = double(random.between(3, 6));
      bounds_[i] = double(random.between(0, 3));
    }
  }
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point) const override { return {}; }
  double bound(KnobSpace::Point point) const override { return bounds_[point]; }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<Measurement> all;
    for (const KnobSpace::Point point : points) all.push_back({point, costs_[point], "", false});
    return all;
  }
  // Of the least cost, the smallest bound, then the smallest number.
  KnobSpace::Point expected() const {
    KnobSpace::Point best = 0;
    for (KnobSpace::Point p = 1; p < costs_.size(); ++p) {
      if (std::tuple(costs_[p], bounds_[p], p) < std::tuple(costs_[best], bounds_[best], best)) best = p;
    }
    return best;
  }

 private:
  static Knob knob(size_t points) {
    std::vector<int64_t> values(points);
    std::iota(values.begin(), values.end(), int64_t(0));
    return Knob::integers("k", values);
  }
  std::vector<double> costs_, bounds_;
  KnobSpace space_;
};

TEST(ExhaustiveTiesClass, OfEqualCostsTheSmallestBoundWins) {
  const int64_t cases = test_cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    TiedProblem problem(random);
    const ExhaustiveResult result =
        exhaustive_search(problem, {.threads = 1, .batch = int(random.between(1, 8))});
    ASSERT_TRUE(result.best);
    ASSERT_EQ(result.best->point, problem.expected());
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
