#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "fleet.h"
#include "slurm_cluster.h"
#include "tilewright/base/error.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright::tune {
namespace {

SlurmOptions quick() {
  SlurmOptions options;
  options.poll_s = 0.5;
  return options;
}

std::unique_ptr<JobExecutor> slurm_executor(const std::filesystem::path& folder) {
  return make_slurm_executor(fleet_options(folder, 4), quick());
}

std::map<std::string, std::string> replies(const std::map<std::string, JobResult>& results) {
  std::map<std::string, std::string> texts;
  for (const auto& [id, result] : results) {
    EXPECT_EQ(result.status, JobStatus::kDone) << id << ": " << result.reply;
    texts[id] = result.reply;
  }
  return texts;
}

std::map<std::string, std::string> local_replies(const std::vector<Job>& jobs) {
  const TestFolder folder("local");
  const auto executor = make_local_executor(fleet_options(folder.path()));
  executor->submit(jobs);
  return replies(collect_all(*executor));
}

int arrays_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder / "slurm");
  return int(
      std::count_if(begin(files), end(files), [](const auto& f) { return f.path().extension() == ".ids"; }));
}

class SlurmExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cluster_.missing().empty()) GTEST_SKIP() << cluster_.missing();
  }
  // After every test the cluster is stopped and nothing of it, nor of the jobs, may still run.
  void TearDown() override {
    cluster_.stop();
    EXPECT_TRUE(all_end_within(cluster_.folder().string(), 20));
  }
  SlurmCluster cluster_;
};

TEST_F(SlurmExecutorTest, GivesTheAnswersOfTheLocalExecutorThoughANodeDies) {
  const TestFolder folder("node");
  const std::vector<Job> jobs = square_jobs(16, 1.5);
  std::map<std::string, JobResult> results;
  {
    const auto executor = slurm_executor(folder.path());
    executor->submit(jobs);
    ASSERT_TRUE(wait_until([&] { return logged(folder.path(), "start").size() >= 4; }, 30));
    cluster_.kill_node("tw1");
    results = collect_all(*executor, 200);
    EXPECT_EQ(arrays_in(folder.path()), 1);  // Slurm itself requeued what was lost
  }
  EXPECT_EQ(replies(results), local_replies(square_jobs(16)));
  int requeued = 0;
  for (const auto& [id, result] : results) requeued += result.attempts > 1;
  EXPECT_GE(requeued, 1);
  const auto starts = logged(folder.path(), "start"), ends = logged(folder.path(), "done");
  for (const auto& [id, result] : results) {
    EXPECT_EQ(ends.at(id), 1) << id;
    EXPECT_EQ(starts.at(id), result.attempts) << id;
  }
  EXPECT_TRUE(all_end_within(folder.path().string(), 10));
}

TEST_F(SlurmExecutorTest, AdoptsWhatAKilledCoordinatorLeftRunning) {
  const TestFolder folder("adopt");
  const std::vector<Job> jobs = square_jobs(12, 1);
  const pid_t coordinator = fork_coordinator([&] {
    const auto executor = slurm_executor(folder.path());
    executor->submit(jobs);
    while (executor->pending() > 0) executor->collect(1);
  });
  ASSERT_TRUE(wait_until([&] { return logged(folder.path(), "done").size() >= 3; }, 30));
  ::kill(coordinator, SIGKILL);
  ::waitpid(coordinator, nullptr, 0);
  const auto executor = slurm_executor(folder.path());
  executor->submit(jobs);
  EXPECT_EQ(replies(collect_all(*executor)), local_replies(square_jobs(12)));
  EXPECT_EQ(arrays_in(folder.path()), 1);
  for (const auto& [id, count] : logged(folder.path(), "start")) EXPECT_EQ(count, 1) << id;
}

TEST_F(SlurmExecutorTest, FailuresCrashesAndHangsAreToldApart) {
  const TestFolder folder("failures");
  ExecutorOptions options = fleet_options(folder.path(), 4);
  options.attempts = 2;
  const auto executor = make_slurm_executor(options, quick());
  executor->submit({{"no", "refuse", "1"},
                    {"crash", "crash", "1"},
                    {"hang", "hang", "1", 0.5},
                    {"once", "crash-once", (folder.path() / "marker").string()},
                    {"good", "square", "{\"value\": 5}"}});
  const auto results = collect_all(*executor, 200);
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results.at("no").status, JobStatus::kFailed);
  EXPECT_EQ(results.at("no").reply, "refused: 1");
  EXPECT_EQ(results.at("crash").status, JobStatus::kLost);
  EXPECT_EQ(results.at("crash").attempts, 2);
  EXPECT_EQ(results.at("hang").status, JobStatus::kTimedOut);
  EXPECT_NE(results.at("hang").reply.find("0.5 s"), std::string::npos) << results.at("hang").reply;
  EXPECT_EQ(results.at("once").attempts, 2);
  EXPECT_EQ(results.at("good").reply, "25");
}

TEST_F(SlurmExecutorTest, CancelLeavesNoProcessOfTheJobsAndTheirTools) {
  const TestFolder folder("cancel");
  const std::string marker = "slurm_marker_" + std::to_string(::getpid());
  const auto executor = slurm_executor(folder.path());
  executor->submit({{"a", "shell", "sleep 300 & sleep 300 # " + marker}, {"b", "hang", "1"}});
  ASSERT_TRUE(wait_until(
      [&] { return !processes_with(marker).empty() && logged(folder.path(), "start").size() == 2; }, 30));
  executor->cancel();
  EXPECT_EQ(executor->pending(), 0u);
  EXPECT_TRUE(all_end_within(marker, 20));
  EXPECT_TRUE(all_end_within(folder.path().string(), 20));
  executor->submit({{"after", "square", "{\"value\": 6}"}});
  EXPECT_EQ(collect_all(*executor).at("after").reply, "36");
}

TEST_F(SlurmExecutorTest, SaysWhenThereIsNoControllerOrTheOptionsAreWrong) {
  const TestFolder folder("errors");
  SlurmOptions options = quick();
  options.partition = "no-such-partition";
  const auto executor = make_slurm_executor(fleet_options(folder.path()), options);
  try {
    executor->submit(square_jobs(1));
    FAIL() << "a partition that is not there";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("invalid partition"), std::string::npos) << error.what();
  }
  cluster_.stop();
  const TestFolder other("controller");
  try {
    slurm_executor(other.path());
    FAIL() << "a controller that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("controller"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tilewright::tune
