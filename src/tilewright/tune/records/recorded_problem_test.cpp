#include "tilewright/tune/records/recorded_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "tilewright/tune/records/records_testing.h"

namespace tilewright::tune {
namespace {

// Costs 10 * (point / 2) + 1: points 2k and 2k+1 are one and the same schedule. Point 8 fails. Answers
// backwards, as a problem may.
class CountingProblem final : public TuningProblem {
 public:
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point) const override { return {}; }
  double bound(KnobSpace::Point point) const override { return double(point); }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<Measurement> results;
    for (const KnobSpace::Point point : points) {
      measured.push_back(point);
      Measurement result{point, double(10 * (point / 2) + 1), "", false};
      if (point / 2 == 4) result = {point, std::nullopt, "too large \xC3\xA9", false};
      results.push_back(result);
    }
    std::this_thread::sleep_for(delay);
    if (broken) throw Error(ErrorKind::kInfeasible, "the worker is gone");
    std::reverse(results.begin(), results.end());
    return results;
  }

  std::vector<KnobSpace::Point> measured;
  bool broken = false;
  std::chrono::milliseconds delay{0};

 private:
  KnobSpace space_{{Knob::integers("k", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}};
};

RecordedProblem recorded(CountingProblem& inner, RecordStore& store,
                         const std::string& tool = "simulator 1") {
  const auto text = [](KnobSpace::Point point) { return "schedule " + std::to_string(point / 2); };
  return {inner, {"workload", "hardware", tool, 3}, text, store, [] { return int64_t{1700000000}; }};
}

using Points = std::vector<KnobSpace::Point>;

// The records of one call share its time.
TEST(RecordedProblem, SecondsAddUpToThoseOfTheMeasurement) {
  const TestFolder folder("seconds", TestFolder::Place::kMemory);
  RecordStore store(folder / "a.db", RecordStore::Mode::kWrite);
  CountingProblem inner;
  inner.delay = std::chrono::milliseconds(20);
  const auto began = std::chrono::steady_clock::now();
  recorded(inner, store).measure(Points{0, 2, 4, 6});
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  double sum = 0;
  for (int schedule = 0; schedule < 4; ++schedule) {
    const auto found =
        store.find({"workload", "hardware", "schedule " + std::to_string(schedule), "simulator 1", 3});
    ASSERT_TRUE(found.has_value());
    sum += found->seconds;
  }
  EXPECT_GE(sum, 0.02);
  EXPECT_LE(sum, passed);
}

TEST(RecordedProblem, MeasuresEveryTrialOnce) {
  const TestFolder folder("problem", TestFolder::Place::kMemory);
  RecordStore store(folder / "a.db", RecordStore::Mode::kWrite);
  CountingProblem inner;
  RecordedProblem problem = recorded(inner, store);
  std::vector<Measurement> results = problem.measure(Points{2, 3, 0, 2, 8});
  EXPECT_EQ(inner.measured, (Points{2, 0, 8}));
  ASSERT_EQ(results.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(results[i].point, (Points{2, 3, 0, 2, 8})[i]);
  EXPECT_EQ(results[0].cost, 11);
  EXPECT_EQ(results[1].cost, 11);
  EXPECT_EQ(results[2].cost, 1);
  EXPECT_EQ(results[4].cost, std::nullopt);
  EXPECT_EQ(results[4].failure, "too large ??");
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(results[i].cached, i == 1 || i == 3) << i;
  const auto found = store.find({"workload", "hardware", "schedule 1", "simulator 1", 3});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->cost, 11);
  EXPECT_EQ(found->unix_time_s, 1700000000);
  EXPECT_EQ(store.statistics().records, 3);
  EXPECT_EQ(problem.bound(4), 4);
  EXPECT_EQ(problem.space().size(), 10u);

  inner.measured.clear();
  CountingProblem other_inner;
  RecordStore other_store(folder / "a.db", RecordStore::Mode::kWrite);
  results = recorded(other_inner, other_store).measure(Points{9, 1, 4});
  EXPECT_EQ(other_inner.measured, Points{4});
  EXPECT_TRUE(results[0].cached && results[1].cached && !results[2].cached);
  EXPECT_EQ(results[0].failure, "too large ??");
  problem.measure(Points{4, 5});
  EXPECT_TRUE(inner.measured.empty());
}

TEST(RecordedProblem, AnotherToolMeasuresAnew) {
  const TestFolder folder("tool", TestFolder::Place::kMemory);
  RecordStore store(folder / "a.db", RecordStore::Mode::kWrite);
  CountingProblem inner;
  recorded(inner, store).measure(Points{2});
  recorded(inner, store, "simulator 2").measure(Points{2});
  EXPECT_EQ(inner.measured, (Points{2, 2}));
  EXPECT_EQ(store.statistics().records, 2);
}

TEST(RecordedProblem, ABrokenMeasurementIsNoRecord) {
  const TestFolder folder("broken", TestFolder::Place::kMemory);
  RecordStore store(folder / "a.db", RecordStore::Mode::kWrite);
  CountingProblem inner;
  RecordedProblem problem = recorded(inner, store);
  inner.broken = true;
  EXPECT_EQ(message_of([&] { problem.measure(Points{2, 8}); }), "the worker is gone");
  EXPECT_EQ(store.statistics().records, 0);
  inner.broken = false;
  EXPECT_EQ(problem.measure(Points{2})[0].cost, 11);
}

}  // namespace
}  // namespace tilewright::tune
