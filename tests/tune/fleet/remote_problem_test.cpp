#include "tilewright/tune/fleet/remote_problem.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fleet.h"
#include "tilewright/base/error.h"
#include "tilewright/tune/records/recorded_problem.h"

namespace tilewright::tune {
namespace {

// Points 0 to 99, each its own value; measuring is the workers' business.
class Numbers final : public TuningProblem {
 public:
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point) const override { return {}; }
  double bound(KnobSpace::Point point) const override { return double(point); }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point>) override {
    throw std::logic_error("measured here");
  }

 private:
  static std::vector<int64_t> hundred() {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 100; ++i) values.push_back(i);
    return values;
  }
  KnobSpace space_{{Knob::integers("x", hundred())}};
};

RemoteMeasurement remote(int hang = -1, const std::string& tool = "tool 1") {
  RemoteMeasurement measurement;
  measurement.kind = "costs";
  measurement.request = [hang, tool](const std::vector<KnobSpace::Point>& points) {
    return nlohmann::json{{"values", points}, {"hang", hang}, {"tool", tool}}.dump();
  };
  measurement.points_per_job = 4;
  measurement.timeout_s = 60;
  return measurement;
}

std::vector<KnobSpace::Point> points(uint64_t count) {
  std::vector<KnobSpace::Point> list;
  for (uint64_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

TEST(RemoteProblem, MeasuresInTheOrderOfThePointsAndNothingTwice) {
  const TestFolder folder("remote");
  Numbers numbers;
  for (int run = 0; run < 2; ++run) {
    const auto executor = make_local_executor(fleet_options(folder.path()));
    RemoteProblem problem(numbers, *executor, remote());
    const std::vector<Measurement> results = problem.measure(points(30));
    ASSERT_EQ(results.size(), 30u);
    for (uint64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(results[i].point, i);
      if (i == 0) {
        EXPECT_FALSE(results[i].cost);
        EXPECT_EQ(results[i].failure, "zero is refused");
      } else {
        EXPECT_EQ(results[i].cost, double(i) * 10);
      }
    }
    EXPECT_TRUE(problem.measure({}).empty());
    const std::vector<KnobSpace::Point> same(8, 3);
    for (const Measurement& result : problem.measure(same)) EXPECT_EQ(result.cost, 30);
  }
  const auto starts = logged(folder.path(), "start");
  EXPECT_EQ(starts.size(), 9u);
  for (const auto& [id, count] : starts) EXPECT_EQ(count, 1) << id;
}

TEST(RemoteProblem, AHungTrialFailsAloneWhenItsTimeIsUp) {
  const TestFolder folder("hung");
  ExecutorOptions options = fleet_options(folder.path());
  options.attempts = 1;
  const auto executor = make_local_executor(options);
  Numbers numbers;
  RemoteMeasurement measurement = remote(6);
  measurement.timeout_s = 1;
  RemoteProblem problem(numbers, *executor, measurement);
  const std::vector<Measurement> results = problem.measure(points(10));
  for (uint64_t i = 1; i < 10; ++i) {
    EXPECT_EQ(results[i].cost.has_value(), i != 6) << i << ": " << results[i].failure;
  }
  EXPECT_NE(results[6].failure.find("limit of 1 s"), std::string::npos) << results[6].failure;
  EXPECT_TRUE(executor->pending() == 0);
}

TEST(RemoteProblem, WhatSaysNothingAboutAPointIsAnErrorAndNotRecorded) {
  const TestFolder folder("lost");
  Numbers numbers;
  RecordStore store(folder.path() / "tune.db", RecordStore::Mode::kWrite);
  const auto executor = make_local_executor(fleet_options(folder.path() / "jobs"));
  RemoteMeasurement measurement = remote();
  measurement.kind = "crash";
  RemoteProblem problem(numbers, *executor, measurement);
  RecordedProblem recorded(
      problem, {"w", "h", "t"}, [](KnobSpace::Point p) { return std::to_string(p); }, store,
      [] { return 0; });
  try {
    recorded.measure(points(10));
    FAIL() << "lost jobs gave results";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("signal 6"), std::string::npos) << error.what();
  }
  EXPECT_EQ(executor->pending(), 0u);
  EXPECT_EQ(store.statistics().records, 0);
}

TEST(RemoteProblem, AnotherVersionOfTheToolMeasuresAnew) {
  const TestFolder folder("version");
  Numbers numbers;
  RecordStore store(folder.path() / "tune.db", RecordStore::Mode::kWrite);
  const auto executor = make_local_executor(fleet_options(folder.path() / "jobs"));
  std::set<size_t> started;
  for (const char* tool : {"tool 1", "tool 1", "tool 2"}) {
    RemoteProblem problem(numbers, *executor, remote(-1, tool));
    RecordedProblem recorded(
        problem, {"w", "h", tool}, [](KnobSpace::Point p) { return std::to_string(p); }, store,
        [] { return 0; });
    recorded.measure(points(8));
    started.insert(logged(folder.path() / "jobs", "start").size());
  }
  EXPECT_EQ(started, (std::set<size_t>{2, 4}));
  EXPECT_EQ(store.statistics().records, 16);
}

}  // namespace
}  // namespace tilewright::tune
