// Where jobs run: on worker processes of this machine, or as job arrays of Slurm. Both put the files of
// docs/guides/fleet.md into one folder, so a run that was interrupted under one can be finished under the
// other.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/tune/fleet/job.h"

namespace tilewright::tune {

class JobExecutor {
 public:
  // Stops what still runs; no process of it is left behind.
  virtual ~JobExecutor() = default;
  // Jobs that are done, in an earlier run too, are not run again: their result comes with the next collect().
  // Errors (invalid input): an id or request that cannot be, two requests under one id, a full disk.
  virtual void submit(const std::vector<Job>& jobs) = 0;
  // Results since the last call; waits up to `wait_s` for the first. Each submitted job comes once. Errors:
  // nothing can run at all (no such worker program, the cluster's controller is gone).
  virtual std::vector<JobResult> collect(double wait_s) = 0;
  // Submitted, and not yet given by collect().
  virtual size_t pending() const = 0;
  // Drops unfinished jobs; collect() does not return them.
  virtual void cancel() = 0;
};

struct ExecutorOptions {
  std::filesystem::path folder;  // shared with the workers; made if need be
  // Of a process that serves jobs, without its options (worker.h): {"/usr/bin/tilewright", "worker"}.
  std::vector<std::string> worker_command;
  int workers = 1;   // local processes, or jobs of Slurm at once
  int attempts = 3;  // of a job whose worker dies or runs out of time
};

// Errors (invalid input): the folder cannot be written, another coordinator uses it (its process).
std::unique_ptr<JobExecutor> make_local_executor(const ExecutorOptions& options);

struct SlurmOptions {
  std::string partition;                      // empty: the default one
  std::vector<std::string> sbatch_arguments;  // of the user: account, memory, ...
  double poll_s = 2;                          // between two questions to the controller
  double patience_s = 300;  // how long the controller may give no answer before collect() gives up
};
// Errors besides: (unsupported) no sbatch, no controller that answers.
std::unique_ptr<JobExecutor> make_slurm_executor(const ExecutorOptions& options, const SlurmOptions& slurm);

}  // namespace tilewright::tune
