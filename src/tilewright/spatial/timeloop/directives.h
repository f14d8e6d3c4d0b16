// Timeloop's constraints and mappings: both are lists of directives about one level each.
#pragma once

#include <vector>

#include "tilewright/nest/mapping.h"
#include "tilewright/spatial/mapspace/mapspace.h"
#include "tilewright/spatial/timeloop/architecture.h"

namespace tilewright::timeloop {

// The directives of a section: a list, or a map with `targets`, `constraints` or `mapping`.
std::vector<Directive> read_directives(const Source& section, const Architecture& architecture,
                                       Report& report);

// Puts constraints into a mapspace whose workload and hardware are set. `without_loops`: levels that have no
// loops in time.
void constrain(Mapspace& mapspace, const std::vector<Directive>& directives,
               const std::vector<int>& without_loops, Report& report);

// A mapping; levels without a bypass directive keep everything they may.
Mapping read_mapping(const Source& section, const Workload& workload, const Architecture& architecture,
                     Report& report);

}  // namespace tilewright::timeloop
