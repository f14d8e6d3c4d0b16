// The Pareto front of a mapspace: energy against latency against the words of one level that a mapping uses,
// every point proven. Exact branch and bound over the same tree as find_mapping; a subtree is cut when a
// known point is at most its bounds in all three.
#pragma once

#include <vector>

#include "tilewright/spatial/mapper/mapper.h"

namespace tilewright {

struct MapPoint {
  Mapping mapping;
  double energy = 0;
  int64_t cycles = 0;
  int64_t buffer_words = 0;  // largest tiles of all data spaces, all copies, in one instance of the level
};

struct MapFront {
  // kOptimal: the whole front. kStopped: what was found in time, without a proof.
  MapStatus status = MapStatus::kInfeasible;
  std::vector<MapPoint> points;  // by energy, then cycles
  double mapspace_size = 0;
  int64_t nodes = 0, pruned = 0, evaluated = 0;
  double seconds = 0;
};

// Objective and check_bounds of the options have no effect. Energies that differ by less than the quantum of
// spatial/mapper/mapper_values.h count as equal. Errors (invalid input): a mapspace that does not verify, no
// such level.
MapFront map_pareto(const Mapspace& mapspace, int buffer_level, const MapperOptions& options);

}  // namespace tilewright
