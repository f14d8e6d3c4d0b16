// Where jobs run: on worker processes of this machine, or as job arrays of Slurm. Both put the files of
// docs/fleet.md into one folder, so that a run which was interrupted under one may be ended under the other.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/tune/job.h"

namespace tilewright::tune {

class Executor {
 public:
  // Stops what still runs; no process of it is left behind.
  virtual ~Executor() = default;
  // Jobs whose result file is there already are not run again: their result comes with the next collect().
  virtual void submit(const std::vector<Job>& jobs) = 0;
  // Results since the last call; waits up to `wait_s` for the first. Each submitted job comes once.
  virtual std::vector<JobResult> collect(double wait_s) = 0;
  virtual size_t pending() const = 0;
  // Drops what has not ended; collect() gives nothing of it.
  virtual void cancel() = 0;
};

struct ExecutorOptions {
  std::filesystem::path folder;  // shared with the workers; made if need be
  std::vector<std::string>
      worker_command;  // of a process that serves jobs: e.g. {"/usr/bin/tilewright", "worker"}
  int workers = 1;     // local processes, or jobs of Slurm at once
  int attempts = 3;    // of a job whose worker dies or runs out of time
};

// Errors (invalid input): the folder cannot be written, another coordinator uses it (its process).
std::unique_ptr<Executor> make_local_executor(const ExecutorOptions& options);

struct SlurmOptions {
  std::string partition;  // empty: the default one
  std::vector<std::string> sbatch_arguments;
  double poll_s = 2;
};
// Errors besides: (unsupported) no sbatch, no controller that answers.
std::unique_ptr<Executor> make_slurm_executor(const ExecutorOptions& options, const SlurmOptions& slurm);

// The other side, in the worker process: answers jobs of one kind. What it throws becomes kFailed.
using JobHandler = std::function<std::string(const std::string& request)>;
struct JobKind {
  std::string name;
  JobHandler handler;
};
// What `tilewright worker` does: serves the jobs that the coordinator names on standard input until it ends,
// or, with `job_ids`, these alone. Returns the exit code.
int serve_jobs(const std::filesystem::path& folder, const std::vector<std::string>& job_ids,
               const std::vector<JobKind>& kinds);

}  // namespace tilewright::tune
