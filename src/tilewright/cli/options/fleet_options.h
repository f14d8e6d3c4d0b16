// Where measurements and implementations of `tune` and `explore` run.
#pragma once

#include <CLI/CLI.hpp>

#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/explore/workers.h"

namespace tilewright::cli {

void add_fleet(Verb* verb, FleetOptions& fleet);

// Workers are this command again, as `tilewright worker`.
FleetRequest fleet_request(const FleetOptions& fleet);

}  // namespace tilewright::cli
