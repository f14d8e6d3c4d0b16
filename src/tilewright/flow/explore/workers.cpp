// Workers get their folder from the request, or from the study that they work for.
#include "tilewright/flow/explore/workers.h"

#include "tilewright/base/error.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace tilewright {

std::unique_ptr<tune::JobExecutor> make_workers(const FleetRequest& request,
                                                const std::filesystem::path& folder) {
  if (request.executor == "threads") return nullptr;
  if (request.folder.empty() && folder.empty()) {
    throw Error(ErrorKind::kInvalidInput, "--executor " + request.executor + " needs --job-folder",
                "name a folder that all workers see under the same path");
  }
  tune::ExecutorOptions options;
  options.folder = request.folder.empty() ? folder : request.folder;
  options.worker_command = request.worker_command;
  options.workers = request.jobs;
  if (request.executor == "local") return tune::make_local_executor(options);
  tune::SlurmOptions slurm;
  slurm.partition = request.partition;
  return tune::make_slurm_executor(options, slurm);
}

std::unique_ptr<tune::JobExecutor> candidate_workers(const FleetRequest& request,
                                                     const std::filesystem::path& folder,
                                                     const Deadline* deadline) {
  std::unique_ptr<tune::JobExecutor> workers = make_workers(request, folder);
  return workers ? std::move(workers) : tune::make_thread_executor({candidate_job(deadline)}, request.jobs);
}

}  // namespace tilewright
