// Bounds on the initiation interval of a loop kernel that no schedule of any length can beat.
#pragma once

#include <string>
#include <vector>

#include "tilewright/cgra/problem/problem.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

struct MinimumIi {
  int resource = 1;     // operations over tiles; loads and stores over the tiles of the left column
  int recurrence = 1;   // the largest ratio of clocks to iterations over all cycles, rounded up
  int shared_tile = 1;  // operations that must share one tile
  int value() const;
  // The cycle that gives `recurrence`, in the order of its edges; empty where the graph has none. Its exact
  // ratio is cycle_cycles / cycle_distance.
  std::vector<int> cycle;
  int cycle_cycles = 0, cycle_distance = 0;
  // The binding bound as an argument, with names.
  std::string reason;
};

// problem.ii is ignored. The graph has no cycle of distance 0. If `deadline` comes first, the result is what
// is known by then, which is still a bound.
MinimumIi minimum_ii(const MappingProblem& problem, const Deadline* deadline = nullptr);

}  // namespace tilewright::cgra
