// Where a verb's measurements and implementations run: what `tune` and `explore` take, and the executor it
// means.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "tilewright/cli/verbs.h"
#include "tilewright/tune/executor.h"

namespace tilewright::cli {

void add_fleet(CLI::App* verb, FleetOptions& fleet);

// nullptr for `threads`. Workers are this command again, as `tilewright worker`. Errors: those of the
// executors; (invalid input) Slurm without a folder that the nodes share.
std::unique_ptr<tune::Executor> make_executor(const FleetOptions& fleet);

}  // namespace tilewright::cli
