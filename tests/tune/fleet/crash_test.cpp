#include <gtest/gtest.h>

#include "crash_runs.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::tune {
namespace {

void expect_whole(const CrashCount& count) {
  EXPECT_EQ(count.kills, 20);
  EXPECT_GT(count.results, 0);
  EXPECT_EQ(count.lost, 0);
  EXPECT_EQ(count.repeated, 0);
  EXPECT_EQ(count.orphans, 0);
  // Whatever was begun again had been killed: two workers lose at most a job each per kill.
  EXPECT_LE(count.begun, count.done + 2 * count.kills);
}

TEST(Crash, KilledCoordinatorsLoseNothing) { expect_whole(kill_coordinators(20, 1)); }

TEST(Crash, KilledWorkersLoseNothing) { expect_whole(kill_workers(20, 2)); }

TEST(Crash, KilledToolsAreRunAgain) {
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  const CrashCount count = kill_tools(20, 3);
  expect_whole(count);
  EXPECT_GT(count.begun, count.done);
}

}  // namespace
}  // namespace tilewright::tune
