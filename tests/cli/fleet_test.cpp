// Worker processes find what threads find.
#include "fleet.h"

#include <gtest/gtest.h>

#include "command.h"
#include "fleet_runs.h"

namespace tilewright {
namespace {

TEST(CliFleet, ExploringWithWorkersGivesTheFrontOfThreads) {
  const std::filesystem::path folder = fresh_folder("explore_local");
  const CommandResult threads = command(explore_model(demo_files().model, folder / "threads"));
  ASSERT_EQ(threads.exit_code, 0) << threads.output;
  const std::filesystem::path jobs = folder / "jobs";
  const std::string options = "--executor local --jobs 2 --job-folder " + jobs.string();
  const CommandResult local = command(explore_model(demo_files().model, folder / "local", options));
  ASSERT_EQ(local.exit_code, 0) << local.output;
  const nlohmann::json expected = findings(folder / "threads");
  EXPECT_EQ(expected.at("candidates").size(), 8u);
  EXPECT_EQ(findings(folder / "local"), expected);
  const tune::FolderWork work = tune::work_in(jobs);
  EXPECT_EQ(work.begun, 8);
  EXPECT_EQ(work.done, 8);
  EXPECT_EQ(work.repeated, 0);
}

}  // namespace
}  // namespace tilewright
