// `tune` and `explore` through sbatch on a cluster of two nodes, one of which dies at work: the answers of
// threads, and nothing measured twice.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <future>

#include "command.h"
#include "fleet.h"
#include "fleet_runs.h"
#include "slurm_cluster.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/run/bundle.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class CliClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cluster_.missing().empty()) GTEST_SKIP() << cluster_.missing();
  }
  void TearDown() override {
    cluster_.stop();
    EXPECT_TRUE(tune::all_end_within(cluster_.folder().string(), 20));
  }

  // What the command prints though node tw1 is killed as soon as a job was begun there.
  CommandResult run_and_kill_a_node(const std::string& arguments, const fs::path& jobs) {
    std::future<CommandResult> result =
        std::async(std::launch::async, [arguments] { return command(arguments); });
    EXPECT_TRUE(tune::wait_until([&] { return halted_at_work("tw1", jobs); }, 60));
    cluster_.kill_node("tw1");
    return result.get();
  }

  // Whatever died was begun once more; all others were begun and done once.
  static void expect_work(const fs::path& jobs, int least) {
    const tune::FolderWork work = tune::work_in(jobs);
    EXPECT_GE(work.done, least);
    EXPECT_EQ(work.repeated, 0);
    EXPECT_GE(work.begun, work.done + 1);  // the one that was at work
    EXPECT_LE(work.begun, work.done + 2);  // the node has two processors
    EXPECT_TRUE(tune::all_end_within(jobs.string(), 10));
  }

 private:
  // Stops a worker on the node, however short its job, between the job's begin and its end.
  static bool halted_at_work(const std::string& node, const fs::path& jobs) {
    for (const pid_t process : tune::processes_with("SLURMD_NODENAME=" + node)) {
      if (!is_worker(process, jobs)) continue;
      ::kill(process, SIGSTOP);
      if (stopped(process) && at_work(process, jobs)) return true;
      ::kill(process, SIGCONT);
    }
    return false;
  }
  static bool is_worker(pid_t process, const fs::path& jobs) {
    try {
      const std::string words = read_text_file("/proc/" + std::to_string(process) + "/cmdline");
      return words.find("worker") != std::string::npos && words.find(jobs.string()) != std::string::npos &&
             words.find("--job") != std::string::npos;
    } catch (const Error&) {  // it has just ended
      return false;
    }
  }
  static bool stopped(pid_t process) {
    return tune::wait_until(
        [&] {
          std::string state;
          std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), state);
          return state.find(") T ") != std::string::npos;
        },
        1);
  }
  static bool at_work(pid_t process, const fs::path& jobs) {
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(jobs / "logs", none_yet)) {
      if (entry.path().filename().string().ends_with("-" + std::to_string(process) + ".log")) {
        const std::string log = read_text_file(entry.path());
        return log.starts_with("start ") && log.find("\ndone ") == std::string::npos;
      }
    }
    return false;
  }

  tune::SlurmCluster cluster_;
};

TEST_F(CliClusterTest, TuneGivesTheAnswerOfThreadsThoughANodeDies) {
  const fs::path folder = fresh_folder("tune_cluster"), jobs = folder / "jobs";
  const TuneRun threads{folder, "threads"}, slurm{folder, "slurm"};
  const CommandResult expected = command(threads.command(""));
  ASSERT_EQ(expected.exit_code, 0) << expected.output;
  const CommandResult found =
      run_and_kill_a_node(slurm.command("--executor slurm --jobs 4 --job-folder " + jobs.string()), jobs);
  ASSERT_EQ(found.exit_code, 0) << found.output;
  EXPECT_EQ(without_seconds(nlohmann::json::parse(found.output)),
            without_seconds(nlohmann::json::parse(expected.output)));
  EXPECT_EQ(read_bundle(slurm.bundle()).schedules, read_bundle(threads.bundle()).schedules);
  const tune::RecordedResults records = tune::recorded_results(threads.records());
  EXPECT_GE(records.size(), 100u);
  EXPECT_EQ(tune::recorded_results(slurm.records()), records);
  expect_work(jobs, 12);
}

TEST_F(CliClusterTest, ExploreGivesTheFrontOfThreadsThoughANodeDies) {
  const fs::path folder = fresh_folder("explore_cluster"), jobs = folder / "slurm/jobs";
  const CommandResult expected = command(explore_model(demo_files().model, folder / "threads"));
  ASSERT_EQ(expected.exit_code, 0) << expected.output;
  const CommandResult found = run_and_kill_a_node(
      explore_model(demo_files().model, folder / "slurm", "--executor slurm --jobs 4"), jobs);
  ASSERT_EQ(found.exit_code, 0) << found.output;
  EXPECT_EQ(findings(folder / "slurm"), findings(folder / "threads"));
  expect_work(jobs, 8);
}

}  // namespace
}  // namespace tilewright
