// The exact solver for perfect factors on machines of two or three storage levels with one fan-out: proves
// the optimum of a layer in milliseconds where general branch and bound needs hours.
// docs/design/spatial/lattice_solver.md says which mapspaces it accepts and proves its bounds.
#pragma once

#include <functional>
#include <optional>

#include "tilewright/spatial/mapspace/map_result.h"
#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

// The best mapping of the mapspace, as find_mapping gives it. nullopt: not a case for this solver, a mapspace
// without any valid mapping, or no time to find one. The result is the same for any number of threads, the
// statistics included (without a time limit).
std::optional<MapResult> solve_on_lattice(const Mapspace& mapspace, const MapperOptions& options,
                                          const std::function<void(const MapProgress&)>& progress = {});

}  // namespace tilewright
