// Serves jobs for a coordinator: what executors start, not people.
#include <iostream>

#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/cli/options/word_checks.h"
#include "tilewright/flow/explore/jobs.h"

namespace tilewright::cli {

int worker(const WorkerVerbOptions& options) {
  return serve_jobs({options.folder, options.jobs, options.attempt}, {std::cin, std::cout, std::cerr});
}

CLI::App* add_worker(CLI::App& app, WorkerVerbOptions& options, int& exit_code) {
  Verb* verb = add_verb(app, "worker", "Run the jobs of a folder; started by tune and explore, not by hand",
                        "worker --folder study/jobs --job measure-0123456789abcdef");
  verb->group("");  // not listed by --help
  verb->add_option("--folder", options.folder, "Folder that the coordinator shares with its workers")
      ->required();
  verb->add_option("--job", options.jobs,
                   "Run this job and exit; without it, run the jobs named on standard input")
      ->type_name("ID");
  verb->add_option("--attempt", options.attempt, "How often the job has been started, including this time")
      ->check(between(1, 1 << 20));
  verb->callback([&options, &exit_code] { exit_code = worker(options); });
  return verb;
}

}  // namespace tilewright::cli
