// The options --executor, --jobs, --job-folder and --partition.
#include "tilewright/cli/options/fleet_options.h"

#include <filesystem>

#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

void add_fleet(Verb* verb, FleetOptions& fleet) {
  verb->add_option(
          "--executor", fleet.executor,
          "Where to measure: threads (of this process), local (worker processes), slurm (job arrays)")
      ->check(one_of({"threads", "local", "slurm"}));
  verb->add_option("--jobs", fleet.jobs, "Jobs at once")->check(between(1, 100000));
  verb->add_option("--job-folder", fleet.folder,
                   "Folder that workers share with this process; keeps their results for a restart");
  verb->add_option("--partition", fleet.partition, "Slurm partition");
  verb->refuse({"--job-folder"}, "without --executor local or slurm",
               [&fleet] { return fleet.executor == "threads"; });
  verb->refuse({"--partition"}, "without --executor slurm", [&fleet] { return fleet.executor != "slurm"; });
}

FleetRequest fleet_request(const FleetOptions& fleet) {
  return {.executor = fleet.executor,
          .jobs = fleet.jobs,
          .folder = fleet.folder,
          .partition = fleet.partition,
          .worker_command = {std::filesystem::read_symlink("/proc/self/exe").string(), "worker"}};
}

}  // namespace tilewright::cli
