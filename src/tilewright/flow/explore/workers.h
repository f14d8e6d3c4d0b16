// Who measures and implements for `tune` and `explore`: threads of this process, worker processes, a cluster.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright {

struct FleetRequest {
  std::string executor = "threads";  // local (processes), slurm (job arrays)
  int jobs = 2;                      // at once
  std::filesystem::path folder;      // that workers share with this process; empty: the caller's
  std::string partition;             // of Slurm; empty: its default
  // Starts a program that ends in serve_jobs() (jobs.h): {"/usr/bin/tilewright", "worker"}.
  std::vector<std::string> worker_command;
};

// nullptr for `threads`. `folder`: where the request names none. Errors: those of the executors; (invalid
// input) there is no folder.
std::unique_ptr<tune::JobExecutor> make_workers(const FleetRequest& request,
                                                const std::filesystem::path& folder = {});

// Those that tune candidates of an exploration; threads end with `deadline`, if any.
std::unique_ptr<tune::JobExecutor> candidate_workers(const FleetRequest& request,
                                                     const std::filesystem::path& folder,
                                                     const Deadline* deadline);

}  // namespace tilewright
