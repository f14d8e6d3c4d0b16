// The initiation intervals that are worth having: shorter intervals against shorter schedules, each point
// with its proof.
#pragma once

#include <vector>

#include "tilewright/cgra/mapper.h"

namespace tilewright::cgra {

struct IiPoint {
  int ii = 0;
  MappingResult result;
  bool on_front = false;  // no smaller II has a schedule as short
};

struct IiFront {
  std::vector<IiPoint> points;  // every II tried, ascending
  // Every point is optimal or infeasible, and no II above the last one can shorten the schedule.
  bool proven = false;
};

// Runs `mapper` for II = first..last and stops earlier where a longer II cannot help: the critical path is
// reached; or the graph carries nothing from thread to thread and a schedule fits within one II, when slots
// are clocks. `options` hold for each II; problem.ii is not read. Errors: the mapper's; invalid input where
// first > last.
IiFront find_ii_front(MappingProblem problem, const Mapper& mapper, int first, int last,
                      const MapperOptions& options);

}  // namespace tilewright::cgra
