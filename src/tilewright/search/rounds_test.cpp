#include "tilewright/search/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "support/few_threads_testing.h"
#include "tilewright/search/deadline.h"

namespace tilewright {
namespace {

TEST(Crew, RunsEveryTaskOnceInEveryRound) {
  for (int threads : {1, 2, 4}) {
    Crew crew(threads);
    for (int64_t count : {0, 1, 3, 50}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        crew.run(count, [&](int64_t i) { ++seen[size_t(i)]; });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(Crew, GoesOnWithTheThreadsThatStart) {
  EXPECT_TRUE(holds_with_few_threads([] {
    Crew crew(kManyThreads);
    std::vector<std::atomic<int>> seen(500);
    for (int round = 0; round < 3; ++round)
      crew.run(int64_t(seen.size()), [&](int64_t i) { ++seen[size_t(i)]; });
    return std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 3; });
  }));
}

TEST(Crew, ThrowsTheExceptionOfTheLowestTaskAndGoesOn) {
  Crew crew(3);
  for (int round = 0; round < 20; ++round) {
    try {
      crew.run(10, [](int64_t i) {
        if (i % 3 == 2) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "2");
    }
    int64_t sum = 0;
    crew.run(1, [&](int64_t i) { sum += i + 1; });
    EXPECT_EQ(sum, 1);
  }
}

TEST(LaneShare, DividesWhatIsLeft) {
  for (int64_t left : {0, 1, 5, 16, 1000}) {
    for (int64_t lanes : {1, 3, 16}) {
      int64_t sum = 0;
      for (int64_t i = 0; i < lanes; ++i) sum += lane_share(left, lanes, i, left + 1);
      EXPECT_EQ(sum, left);
      EXPECT_LE(lane_share(left, lanes, 0, 7), 7);
    }
  }
}

TEST(DeadlineWatch, ExpiresInTimeWhateverAStepTakes) {
  for (const int step_us : {0, 2000}) {
    Deadline deadline(0.02);
    DeadlineWatch watch(deadline);
    while (!watch.expired()) std::this_thread::sleep_for(std::chrono::microseconds(step_us));
    EXPECT_GE(deadline.seconds(), 0.02);
    EXPECT_LT(deadline.seconds(), 5.0);
    EXPECT_EQ(watch.used(), 1.0);
  }
  Deadline unlimited(std::numeric_limits<double>::infinity());
  DeadlineWatch watch(unlimited);
  for (int i = 0; i < 10000; ++i) EXPECT_FALSE(watch.expired());
}

}  // namespace
}  // namespace tilewright
