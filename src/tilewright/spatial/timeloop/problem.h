// Timeloop's problem section: dimensions, data spaces with projections, and the instance's sizes.
#pragma once

#include <optional>
#include <string>

#include "tilewright/nest/workload.h"
#include "tilewright/spatial/timeloop/yaml_source.h"

namespace tilewright::timeloop {

// The workload, data spaces in the order input, weight, output; nothing when it could not be read.
std::optional<Workload> read_problem(const Source& problem, Report& report);

}  // namespace tilewright::timeloop
