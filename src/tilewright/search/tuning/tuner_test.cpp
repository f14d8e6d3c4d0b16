#include "tilewright/search/tuning/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/search/models/boosted_cost_model.h"
#include "tilewright/search/tuning/tuning_testing.h"

namespace tilewright {
namespace {

constexpr TuningMethod kMethods[] = {TuningMethod::kRandom, TuningMethod::kAnnealing,
                                     TuningMethod::kEvolution, TuningMethod::kGuided};

TuningResult run(TuningProblem& problem, TuningOptions options) {
  BoostedCostModel model;
  if (options.method == TuningMethod::kGuided) options.model = &model;
  return tune_problem(problem, options);
}

double median_best(TuningMethod method, int64_t trials) {
  std::vector<double> bests;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    BlockedProduct problem;
    TuningOptions options{.method = method, .trials = trials, .batch = 16, .seed = seed};
    options.start_on_bound = options.prune_by_bound = false;
    bests.push_back(run(problem, options).end.best_cost);
  }
  std::sort(bests.begin(), bests.end());
  return bests[2];
}

TEST(Tuner, GuidedBeatsAnnealingBeatsRandom) {
  const double optimum = BlockedProduct().optimum();
  const double random = median_best(TuningMethod::kRandom, 100);
  const double annealing = median_best(TuningMethod::kAnnealing, 100);
  const double evolution = median_best(TuningMethod::kEvolution, 100);
  const double guided = median_best(TuningMethod::kGuided, 100);
  EXPECT_LT(guided, annealing);
  EXPECT_LT(guided, evolution);
  EXPECT_LT(annealing, random);
  EXPECT_LT(evolution, random);
  EXPECT_LE(guided, 1.02 * optimum);
}

TEST(Tuner, SameTrialsAtAnyThreadCount) {
  for (TuningMethod method : kMethods) {
    std::vector<std::vector<KnobSpace::Point>> runs;
    for (int threads : {1, 3}) {
      BlockedProduct problem;
      const auto result =
          run(problem, {.method = method, .trials = 80, .batch = 16, .seed = 5, .threads = threads});
      EXPECT_EQ(result.trials.size(), 80u);
      auto& points = runs.emplace_back();
      for (const Measurement& trial : result.trials) points.push_back(trial.point);
    }
    EXPECT_EQ(runs[0], runs[1]);
  }
}

TEST(Tuner, MeasuresEveryPointOfASmallSpaceOnce) {
  for (TuningMethod method : kMethods) {
    BlockedProduct problem(8, true);
    TuningOptions options{.method = method, .trials = 100000, .seed = 3};
    options.prune_by_bound = false;
    const auto result = run(problem, options);
    EXPECT_TRUE(result.exhausted);
    EXPECT_EQ(result.trials.size(), problem.valid_points().size());
    EXPECT_EQ(problem.repeated(), 0);
    EXPECT_EQ(result.end.best_cost, problem.optimum());
    EXPECT_EQ(result.best_so_far().back(), problem.optimum());
    EXPECT_GT(result.end.failed, 0);
    EXPECT_LT(result.end.failed, result.end.trials);
  }
}

TEST(Tuner, PruningLosesNothingAndIsCounted) {
  for (TuningMethod method : kMethods) {
    BlockedProduct problem(12);
    const auto result = run(problem, {.method = method, .trials = 100000, .seed = 3});
    EXPECT_TRUE(result.exhausted);
    EXPECT_EQ(result.end.best_cost, problem.optimum());
    EXPECT_GT(result.end.pruned, 0);
    EXPECT_EQ(size_t(result.end.trials + result.end.pruned), problem.valid_points().size());
  }
}

// However many points to start from there are.
TEST(TunerClass, NoBatchIsLargerAndNoTrialIsMoreThanAskedFor) {
  for (TuningMethod method : kMethods) {
    for (const int64_t trials : {1, 7, 30}) {
      for (const int batch : {1, 4, 16}) {
        BlockedProduct problem(16);
        const auto points = problem.valid_points();
        TuningOptions options{.method = method, .trials = trials, .batch = batch, .seed = 2};
        options.prune_by_bound = false;
        options.start.assign(points.begin(), points.begin() + 20);
        const auto result = run(problem, options);
        EXPECT_EQ(int64_t(result.trials.size()), trials);
        EXPECT_LE(problem.largest_batch(), size_t(batch));
        EXPECT_EQ(problem.repeated(), 0);
        for (size_t i = 0; i < std::min<size_t>(20, result.trials.size()); ++i) {
          EXPECT_EQ(result.trials[i].point, points[i]);
        }
      }
    }
  }
}

TEST(Tuner, MeasuresTheStartFirstAndStopsWhenToldTo) {
  for (TuningMethod method : kMethods) {
    BlockedProduct problem;
    const auto points = problem.valid_points();
    TuningOptions options{.method = method, .trials = 100, .batch = 8};
    options.start = {points[7], points[7], points[100]};
    options.stop_at = std::max(*problem.cost(points[7]), *problem.cost(points[100]));
    auto result = run(problem, options);
    ASSERT_EQ(result.trials.size(), 2u);
    EXPECT_EQ(result.trials[0].point, points[7]);
    EXPECT_EQ(result.trials[1].point, points[100]);

    options.stop_at = 0;
    options.trials = 40;
    EXPECT_EQ(run(problem, options).trials.size(), 40u);
    BoostedCostModel model;
    options.model = &model;
    int64_t batches = 0;
    result = tune_problem(problem, options, [&](const TuningProgress& now) {
      EXPECT_GT(now.trials, 0);
      return ++batches < 2;
    });
    EXPECT_EQ(batches, 2);
    EXPECT_LT(result.trials.size(), 40u);
  }
}

TEST(Tuner, ReportsTheModelsError) {
  BlockedProduct problem;
  BoostedCostModel model;
  TuningOptions options{.trials = 128, .batch = 32, .epsilon = 0.5, .model = &model};
  const auto result = tune_problem(problem, options);
  EXPECT_GT(result.end.model_error, 0);
  EXPECT_LT(result.end.model_error, 0.4);
  EXPECT_TRUE(model.trained());
}

// Nothing can be compiled.
class Hopeless final : public TuningProblem {
 public:
  explicit Hopeless(bool valid)
      : space_({Knob::integers("x", {1, 2, 3, 4, 5})}, [valid](const auto&) { return valid; }) {}
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point point) const override { return {{float(point)}, {}}; }
  double bound(KnobSpace::Point) const override { return 0; }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<Measurement> all;
    for (KnobSpace::Point point : points) all.push_back({point, std::nullopt, "does not fit", true});
    return all;
  }

 private:
  KnobSpace space_;
};

TEST(Tuner, FailuresAreTrials) {
  for (TuningMethod method : kMethods) {
    Hopeless problem(true);
    const auto result = run(problem, {.method = method, .trials = 10, .batch = 2});
    EXPECT_TRUE(result.exhausted);
    EXPECT_EQ(result.end.trials, 5);
    EXPECT_EQ(result.end.failed, 5);
    EXPECT_EQ(result.end.cached, 5);
    EXPECT_FALSE(result.end.best.has_value());
  }
}

TEST(Tuner, RefusesWhatCannotRun) {
  Hopeless empty(false), problem(true);
  EXPECT_THROW(run(empty, {.method = TuningMethod::kRandom}), Error);
  EXPECT_THROW(tune_problem(problem, {.method = TuningMethod::kGuided}), Error);
  EXPECT_THROW(run(problem, {.method = TuningMethod::kRandom, .trials = 0}), Error);
  EXPECT_THROW(run(problem, {.epsilon = 1.5}), Error);
  EXPECT_THROW(run(problem, {.method = TuningMethod::kRandom, .start = {17}}), Error);
}

}  // namespace
}  // namespace tilewright
