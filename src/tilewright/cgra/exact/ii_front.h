// The useful initiation intervals: shorter intervals against shorter schedules, each point with its proof.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/mapper.h"

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
// reached; a shortest schedule fits within one II, when slots are clocks (with the longest transfer to spare
// where operands come from earlier threads, so that those bind nothing either); or a conflict takes no slots
// and no clocks. `options` hold for each II; problem.ii is not read. Errors: the mapper's; invalid input
// where first > last.
IiFront find_ii_front(MappingProblem problem, const Mapper& mapper, int first, int last,
                      const GraphMapperOptions& options);

}  // namespace tilewright::cgra
