// Random search, annealing, basin hopping, evolution on spaces with known optima.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "tilewright/search/annealing.h"
#include "tilewright/search/basin_hopping.h"
#include "tilewright/search/evolution.h"
#include "tilewright/search/random_search.h"
#include "tilewright/search/search_problems_testing.h"

namespace tilewright {
namespace {

template <typename S>
using Method = std::function<SamplingResultOf<S>(const S&, const SamplingOptionsOf<S>&)>;

template <typename S>
std::map<std::string, Method<S>> methods() {
  using Solution = typename S::Solution;
  using Value = typename S::Value;
  return {{"random", [](const S& space, const SamplingOptionsOf<S>& o) { return random_search(space, o); }},
          {"annealing",
           [](const S& space, const SamplingOptionsOf<S>& o) {
             return anneal(space, AnnealingOptions<Solution, Value>{o});
           }},
          {"hopping",
           [](const S& space, const SamplingOptionsOf<S>& o) {
             return hop_basins(space, HoppingOptions<Solution, Value>{o});
           }},
          {"evolution", [](const S& space, const SamplingOptionsOf<S>& o) {
             return evolve(space, EvolutionOptions<Solution, Value>{o});
           }}};
}

template <typename Result>
void expect_monotone_samples(const Result& result) {
  ASSERT_FALSE(result.curve.empty());
  EXPECT_EQ(result.curve.back().value, result.end.value);
  for (size_t i = 1; i < result.curve.size(); ++i) {
    const auto &before = result.curve[i - 1], &after = result.curve[i];
    EXPECT_LE(before.seconds, after.seconds);
    EXPECT_LT(before.counts.evaluations, after.counts.evaluations);
    if (before.value) {
      EXPECT_LE(*after.value, *before.value);
    }
  }
}

TEST(Sampling, EveryMethodFindsTheShortestTour) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Tour space = Tour::random(seed);
    const int64_t optimum = space.brute_force();
    for (const auto& [name, method] : methods<Tour>()) {
      SamplingOptionsOf<Tour> options;
      options.seed = seed;
      options.limits.evaluations = 60000;
      options.bound = optimum;
      const auto result = method(space, options);
      EXPECT_EQ(result.end.value, optimum) << name << ", seed " << seed;
      EXPECT_EQ(result.status, SearchStatus::kOptimal) << name;
      EXPECT_EQ(space.cost(*result.best), result.end.value) << name;
      EXPECT_EQ(result.gap(), 0) << name;
      EXPECT_LT(result.end.counts.evaluations, 60000) << name << " went on after reaching the bound";
      expect_monotone_samples(result);
    }
  }
}

TEST(Sampling, GuidedMethodsBeatRandomSearchOnManyMinima) {
  std::map<std::string, int> solved;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::map<std::string, double> value;
    for (const auto& [name, method] : methods<Rastrigin>()) {
      SamplingOptionsOf<Rastrigin> options;
      options.seed = seed;
      options.limits.evaluations = 200000;
      const auto result = method(Rastrigin{}, options);
      EXPECT_EQ(result.end.counts.evaluations, 200000) << name;
      EXPECT_EQ(result.status, SearchStatus::kFeasible) << name;
      value[name] = *result.end.value;
      if (*result.end.value < 1e-9) ++solved[name];
      EXPECT_GT(result.end.counts.valid, 60000) << name;
      EXPECT_LT(result.end.counts.valid, 160000) << name;
    }
    for (const char* name : {"annealing", "evolution"}) EXPECT_LT(value[name], value["random"]) << name;
  }
  EXPECT_GE(solved["annealing"], 9);
  EXPECT_GE(solved["evolution"], 9);
}

TEST(Sampling, GivesTheSameAnswerAtAnyThreadCount) {
  for (const auto& [name, method] : methods<Rastrigin>()) {
    for (const int64_t evaluations : {1, 7, 1000, 20001}) {
      SCOPED_TRACE(name + ", " + std::to_string(evaluations));
      SamplingOptionsOf<Rastrigin> options;
      options.seed = 42;
      options.limits.evaluations = evaluations;
      const auto one = method(Rastrigin{}, options);
      EXPECT_EQ(one.end.counts.evaluations, evaluations);
      for (const int threads : {2, 4}) {
        options.threads = threads;
        const auto many = method(Rastrigin{}, options);
        EXPECT_EQ(many.best, one.best);
        EXPECT_EQ(many.end.value, one.end.value);
        EXPECT_EQ(many.end.counts, one.end.counts);
        ASSERT_EQ(many.curve.size(), one.curve.size());
        for (size_t i = 0; i < one.curve.size(); ++i) {
          EXPECT_EQ(many.curve[i].counts, one.curve[i].counts);
          EXPECT_EQ(many.curve[i].value, one.curve[i].value);
        }
      }
    }
  }
}

TEST(Sampling, AnotherSeedTakesAnotherWay) {
  for (const auto& [name, method] : methods<Rastrigin>()) {
    SamplingOptionsOf<Rastrigin> options;
    options.limits.evaluations = 500;
    const auto first = method(Rastrigin{}, options);
    options.seed = 2;
    EXPECT_NE(method(Rastrigin{}, options).best, first.best) << name;
  }
}

// Nothing is valid.
struct Barren : Rastrigin {
  std::optional<Value> cost(const Solution&) const { return std::nullopt; }
};

TEST(Sampling, EndsWithoutASolutionWhereThereIsNone) {
  for (const auto& [name, method] : methods<Barren>()) {
    SamplingOptionsOf<Barren> options;
    options.limits.evaluations = 5000;
    const auto result = method(Barren{}, options);
    EXPECT_EQ(result.status, SearchStatus::kStopped) << name;
    EXPECT_FALSE(result.best || result.end.value) << name;
    EXPECT_EQ(result.end.counts.evaluations, 5000) << name;
    EXPECT_EQ(result.end.counts.valid, 0) << name;
  }
}

TEST(Sampling, StopsInTime) {
  for (const auto& [name, method] : methods<Rastrigin>()) {
    SamplingOptionsOf<Rastrigin> options;
    options.limits.seconds = 0.05;
    const auto result = method(Rastrigin{}, options);
    EXPECT_EQ(result.status, SearchStatus::kFeasible) << name;
    EXPECT_GE(result.end.seconds, 0.05) << name;
    EXPECT_LT(result.end.seconds, 2) << name;
    EXPECT_GT(result.evaluations_per_second(), 0) << name;
  }
}

TEST(Sampling, KeepsAStartThatNothingBeats) {
  for (const char* name : {"random", "annealing", "evolution"}) {
    SamplingOptionsOf<Rastrigin> options;
    options.limits.evaluations = 300;
    options.start = Scored<Rastrigin::Solution, double>{{}, 0};
    const auto result = methods<Rastrigin>()[name](Rastrigin{}, options);
    EXPECT_EQ(result.best, options.start->solution) << name;
    EXPECT_EQ(result.end.counts.evaluations, 300) << name;
  }
}

TEST(Sampling, TheWatcherSeesProgressAndEndsIt) {
  SamplingOptionsOf<Rastrigin> options;
  options.limits.evaluations = 100000;
  int calls = 0;
  options.watcher = [&](const SearchPoint<double>& point, const Rastrigin::Solution* best) {
    EXPECT_EQ(point.value.has_value(), best != nullptr);
    return ++calls < 5;
  };
  const auto result = anneal(Rastrigin{}, AnnealingOptions<Rastrigin::Solution, double>{options});
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(result.end.counts.rounds, 5);
  EXPECT_LT(result.end.counts.evaluations, 100000);
}

TEST(Sampling, AnnealsByRatios) {
  AnnealingOptions<Tour::Solution, int64_t> options;
  options.limits.evaluations = 20000;
  options.relative = true;
  const Tour space = Tour::random(9);
  EXPECT_EQ(anneal(space, options).end.value, space.brute_force());
}

TEST(Sampling, RefusesOptionsOutOfRangeAllAtOnce) {
  SamplingOptionsOf<Rastrigin> options;  // no limit
  options.lanes = 0;
  try {
    random_search(Rastrigin{}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    EXPECT_EQ(error.diagnostics().size(), 2u);
  }
  EvolutionOptions<Rastrigin::Solution, double> evolution;
  evolution.limits.evaluations = 1;
  evolution.population = 1;
  EXPECT_THROW(evolve(Rastrigin{}, evolution), Error);
  AnnealingOptions<Rastrigin::Solution, double> annealing;
  annealing.limits.evaluations = 1;
  annealing.end_ratio = 0;
  EXPECT_THROW(anneal(Rastrigin{}, annealing), Error);
}

}  // namespace
}  // namespace tilewright
