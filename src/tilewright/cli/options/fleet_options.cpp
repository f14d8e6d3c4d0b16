// The options --executor, --jobs, --job-folder and --partition, and the executor that they mean.
#include "tilewright/cli/options/fleet_options.h"

#include "tilewright/base/error.h"

namespace tilewright::cli {

void add_fleet(CLI::App* verb, FleetOptions& fleet) {
  verb->add_option(
          "--executor", fleet.executor,
          "Where to measure: threads (of this process), local (worker processes), slurm (job arrays)")
      ->check(CLI::IsMember({"threads", "local", "slurm"}));
  verb->add_option("--jobs", fleet.jobs, "Jobs at once")->check(CLI::Range(1, 100000));
  verb->add_option("--job-folder", fleet.folder,
                   "Folder that workers share with this process; keeps their results for a restart");
  verb->add_option("--partition", fleet.partition, "Slurm partition");
}

std::unique_ptr<tune::Executor> make_executor(const FleetOptions& fleet,
                                              const std::filesystem::path& folder) {
  if (fleet.executor == "threads") return nullptr;
  if (fleet.folder.empty() && folder.empty()) {
    throw Error(ErrorKind::kInvalidInput, "--executor " + fleet.executor + " needs --job-folder",
                "name a folder that all workers see under the same path");
  }
  tune::ExecutorOptions options;
  options.folder = fleet.folder.empty() ? folder : std::filesystem::path(fleet.folder);
  options.worker_command = {std::filesystem::read_symlink("/proc/self/exe").string(), "worker"};
  options.workers = fleet.jobs;
  if (fleet.executor == "local") return tune::make_local_executor(options);
  tune::SlurmOptions slurm;
  slurm.partition = fleet.partition;
  return tune::make_slurm_executor(options, slurm);
}

}  // namespace tilewright::cli
