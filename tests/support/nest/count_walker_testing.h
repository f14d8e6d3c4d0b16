// The referee of the closed forms: runs the loops of a mapping and counts what moves, by the rules of
// nest/access_counts.h and nothing else. It uses only the workload and the mapping, visits every point, and
// holds every buffer as a set of coordinates. For small cases: time and memory grow with the operations.
#pragma once

#include <span>

#include "tilewright/nest/access_counts.h"

namespace tilewright {

AccessCounts walk_accesses(const Workload& workload, const Mapping& mapping,
                           std::span<const CountingNetwork> networks,
                           Accounting accounting = Accounting::kExact);

}  // namespace tilewright
