#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "fleet.h"
#include "tilewright/base/error.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright::tune {
namespace {

TEST(LocalExecutor, AnswersEveryJobOnceAndKeepsResultsForLater) {
  const TestFolder folder("answers");
  {
    const auto executor = make_local_executor(fleet_options(folder.path()));
    executor->submit(square_jobs(40));
    executor->submit(square_jobs(20));  // these are pending or done already
    const auto results = collect_all(*executor);
    ASSERT_EQ(results.size(), 40u);
    for (int i = 0; i < 40; ++i) {
      const JobResult& result = results.at("square-" + std::to_string(i));
      EXPECT_EQ(result.status, JobStatus::kDone) << result.reply;
      EXPECT_EQ(result.reply, std::to_string(i * i));
      EXPECT_EQ(result.attempts, 1);
    }
    EXPECT_TRUE(executor->collect(5).empty());
  }
  const auto executor = make_local_executor(fleet_options(folder.path()));
  executor->submit(square_jobs(41));
  EXPECT_EQ(collect_all(*executor).size(), 41u);
  const auto starts = logged(folder.path(), "start");
  EXPECT_EQ(starts.size(), 41u);
  for (const auto& [id, count] : starts) EXPECT_EQ(count, 1) << id;
}

TEST(LocalExecutor, AnotherRequestUnderAnIdIsRunAgain) {
  const TestFolder folder("changed");
  const auto executor = make_local_executor(fleet_options(folder.path(), 1));
  executor->submit({{"x", "square", "{\"value\": 3}"}});
  EXPECT_EQ(collect_all(*executor).at("x").reply, "9");
  executor->submit({{"x", "square", "{\"value\": 4}"}});
  EXPECT_THROW(executor->submit({{"x", "square", "{\"value\": 5}"}}), Error);
  EXPECT_EQ(collect_all(*executor).at("x").reply, "16");
}

TEST(LocalExecutor, AnEarlierRunsFailureIsTriedAgain) {
  const TestFolder folder("again");
  for (int run = 1; run <= 2; ++run) {
    const auto executor = make_local_executor(fleet_options(folder.path(), 1));
    executor->submit({{"no", "refuse", "1"}});
    EXPECT_EQ(collect_all(*executor).at("no").status, JobStatus::kFailed);
    EXPECT_EQ(logged(folder.path(), "done").at("no"), run);
  }
}

TEST(LocalExecutor, FailuresCrashesAndHangsAreToldApart) {
  const TestFolder folder("failures");
  const auto executor = make_local_executor(fleet_options(folder.path(), 3));
  executor->submit({{"no", "refuse", "\"this\""},
                    {"none", "no-such-kind", "1"},
                    {"crash", "crash", "1"},
                    {"hang", "hang", "1", 0.2},
                    {"once", "crash-once", (folder.path() / "marker").string()},
                    {"killed-tool", "shell", "kill -9 $$"},
                    {"good", "square", "{\"value\": 5}"}});
  const auto results = collect_all(*executor);
  ASSERT_EQ(results.size(), 7u);
  EXPECT_EQ(results.at("no").status, JobStatus::kFailed);
  EXPECT_EQ(results.at("no").reply, "refused: \"this\"");
  EXPECT_EQ(results.at("none").status, JobStatus::kLost);
  EXPECT_NE(results.at("none").reply.find("kinds: square, "), std::string::npos) << results.at("none").reply;
  EXPECT_EQ(results.at("crash").status, JobStatus::kLost);
  EXPECT_EQ(results.at("crash").attempts, 3);
  EXPECT_NE(results.at("crash").reply.find("signal 6"), std::string::npos) << results.at("crash").reply;
  EXPECT_EQ(results.at("hang").status, JobStatus::kTimedOut);
  EXPECT_NE(results.at("hang").reply.find("0.2 s"), std::string::npos) << results.at("hang").reply;
  EXPECT_EQ(results.at("once").status, JobStatus::kDone);
  EXPECT_EQ(results.at("once").attempts, 2);
  EXPECT_EQ(results.at("killed-tool").status, JobStatus::kLost);
  EXPECT_NE(results.at("killed-tool").reply.find("killed by signal 9"), std::string::npos);
  EXPECT_EQ(results.at("good").reply, "25");
}

TEST(LocalExecutor, AStoppedJobTakesItsToolsAlong) {
  const TestFolder folder("tools");
  const std::string marker = "fleet_marker_" + std::to_string(::getpid());
  const auto executor = make_local_executor(fleet_options(folder.path()));
  // One that is cancelled and one whose time is up, each with a tool that has a child of its own.
  const std::string tool = "sleep 300 & sleep 300 # " + marker;
  executor->submit({{"late", "shell", tool, 0.5}, {"cancelled", "shell", tool, 100}});
  const std::vector<JobResult> results = executor->collect(20);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, JobStatus::kTimedOut);
  EXPECT_FALSE(processes_with(marker).empty());
  executor->cancel();
  EXPECT_EQ(executor->pending(), 0u);
  EXPECT_TRUE(all_end_within(marker, 10));
  executor->submit({{"after", "square", "{\"value\": 6}"}});
  EXPECT_EQ(collect_all(*executor).at("after").reply, "36");
}

TEST(LocalExecutor, EndsWithoutWaitingForWhatRuns) {
  const TestFolder folder("end");
  const auto start = std::chrono::steady_clock::now();
  {
    const auto executor = make_local_executor(fleet_options(folder.path()));
    executor->submit(square_jobs(4, 100));
    executor->collect(0.3);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(all_end_within(folder.path().string(), 10));
}

TEST(LocalExecutor, ASecondCoordinatorAndAMissingProgramAreRefused) {
  const TestFolder folder("refused");
  ExecutorOptions options = fleet_options(folder.path());
  {
    const auto executor = make_local_executor(options);
    try {
      make_local_executor(options);
      FAIL() << "two coordinators on one folder";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("is in use by process " + std::to_string(::getpid())),
                std::string::npos)
          << error.what();
    }
  }
  options.worker_command = {"/no/such/worker"};
  const auto executor = make_local_executor(options);
  executor->submit(square_jobs(1));
  try {
    executor->collect(20);
    FAIL() << "a worker that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("/no/such/worker"), std::string::npos);
  }
}

// A folder on a file system of its own that is nearly full.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder) {
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

TEST(LocalExecutor, AFullDiskLosesNothing) {
  const TestFolder folder("disk");
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a small disk";
  const auto executor = make_local_executor(fleet_options(folder.path(), 1));
  executor->submit({{"small", "square", "{\"value\": 7}"}, {"large", "large", "1000000"}});
  auto results = collect_all(*executor);
  EXPECT_EQ(results.at("small").reply, "49");
  EXPECT_EQ(results.at("large").status, JobStatus::kNotStored);
  EXPECT_NE(results.at("large").reply.find("No space left"), std::string::npos) << results.at("large").reply;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "results")) {
    EXPECT_EQ(entry.path().filename(), "small.json");  // nothing half-written
  }
  ASSERT_EQ(::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
  executor->submit({{"small", "square", "{\"value\": 7}"}, {"large", "large", "1000000"}});
  results = collect_all(*executor);
  EXPECT_EQ(results.at("small").reply, "49");
  EXPECT_EQ(results.at("large").status, JobStatus::kDone);
  EXPECT_EQ(results.at("large").reply.size(), 1000000u);
  EXPECT_EQ(logged(folder.path(), "start").at("small"), 1);
}

TEST(LocalExecutor, AFullDiskAtTheCoordinatorIsSaid) {
  const TestFolder folder("coordinator_disk");
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a small disk";
  const auto executor = make_local_executor(fleet_options(folder.path(), 1));
  try {
    executor->submit({{"large", "square", "{\"value\": 7, \"x\": \"" + std::string(1000000, 'x') + "\"}"}});
    FAIL() << "a job larger than the disk was written";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
  EXPECT_EQ(executor->pending(), 0u);
}

}  // namespace
}  // namespace tilewright::tune
