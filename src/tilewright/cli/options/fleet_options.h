// Where a verb's measurements and implementations run: the options of `tune` and `explore`, and the executor
// they select.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright::cli {

void add_fleet(CLI::App* verb, FleetOptions& fleet);

// nullptr for `threads`. Workers are this command again, as `tilewright worker`. `folder`: of the jobs where
// none is named. Errors: those of the executors; (invalid input) there is no folder.
std::unique_ptr<tune::Executor> make_executor(const FleetOptions& fleet,
                                              const std::filesystem::path& folder = {});

}  // namespace tilewright::cli
