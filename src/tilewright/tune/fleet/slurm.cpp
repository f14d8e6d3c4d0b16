// Each command is a child process with a time limit. squeue gives one line per task, fields separated by |,
// in all states, because ended tasks stay listed for a while (MinJobAge).
#include "tilewright/tune/fleet/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright::tune {
namespace {

// Large enough for a controller that is busy, small enough for a user who waits.
constexpr double kCommandLimit_s = 60;

std::string ask(const std::string& program, const std::vector<std::string>& arguments) {
  return synthesis::run_tool_checked({program, arguments, {}, kCommandLimit_s}).output;
}

}  // namespace

bool SlurmTask::ended() const {
  static constexpr const char* kEnded[] = {"BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
                                           "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};
  return std::find(std::begin(kEnded), std::end(kEnded), state) != std::end(kEnded);
}

bool SlurmTask::timed_out() const {
  return state == "TIMEOUT" || (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kWorkerTimedOut);
}

void check_slurm() {
  synthesis::run_tool({"sbatch", {"--version"}, {}, kCommandLimit_s});  // says how to install it
  const synthesis::ToolResult ping = synthesis::run_tool({"scontrol", {"ping"}, {}, kCommandLimit_s});
  if (ping.exit_code == 0 && ping.output.find(" is UP") != std::string::npos) return;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("Slurm's controller does not answer:\n{}", synthesis::last_lines(ping.output, 3)),
              "start slurmctld, or name the cluster's configuration in SLURM_CONF");
}

void submit_array(const SlurmArray& array, const SlurmOptions& options) {
  std::vector<std::string> arguments = {
      "--parsable", "--requeue", "--job-name=" + array.name,
      fmt::format("--array=0-{}%{}", array.tasks - 1, array.at_once), "--chdir=" + array.folder.string(),
      "--output=" + array.log.string(), "--open-mode=append",
      // Slurm counts in whole minutes. The worker keeps the exact limit; this one is for workers that are
      // lost.
      fmt::format("--time={}", int64_t(std::ceil(std::min(array.limit_s, 1e8) / 60)) + 1)};
  if (!options.partition.empty()) arguments.push_back("--partition=" + options.partition);
  arguments.insert(arguments.end(), options.sbatch_arguments.begin(), options.sbatch_arguments.end());
  arguments.push_back(array.script.string());
  arguments.insert(arguments.end(), array.arguments.begin(), array.arguments.end());
  ask("sbatch", arguments);
}

std::vector<SlurmTask> list_tasks(const std::string& prefix) {
  const std::string rows = ask("squeue", {"--noheader", "--array", "--states=all", "--me",
                                          "--Format=Name:|,ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|"});
  std::vector<SlurmTask> tasks;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, prefix.size(), prefix) != 0) continue;
    std::istringstream fields(line);
    SlurmTask task;
    std::string array_id, index, status;
    if (!std::getline(fields, task.array, '|') || !std::getline(fields, array_id, '|') ||
        !std::getline(fields, index, '|') || !std::getline(fields, task.state, '|') ||
        !std::getline(fields, status, '|')) {
      continue;
    }
    task.log_stem = array_id + "_" + index;
    task.index = std::atoi(index.c_str());
    task.wait_status = std::atoi(status.c_str());
    tasks.push_back(std::move(task));
  }
  return tasks;
}

void cancel_array(const std::string& name) { ask("scancel", {"--quiet", "--me", "--name=" + name}); }

}  // namespace tilewright::tune
