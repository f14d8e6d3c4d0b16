// A lower bound of the makespan for graphs too large to solve: the needs of small parts, added up along
// paths.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

struct GapBoundOptions {
  std::vector<int> part_nodes = {6, 9, 12, 16};  // largest part, round by round
  double seconds = 20;                 // for all parts; what is not solved by then keeps its simple gap
  double part_seconds = 2;             // for one part
  const Deadline* deadline = nullptr;  // of all; throws Expired where it ends even the simple gaps
};

struct GapBound {
  int makespan = 0;          // no valid mapping at this II is shorter
  std::vector<int> release;  // per node: no valid mapping starts it earlier
  std::vector<int>
      tail_cycles;              // per node: clocks from its start to the end of all that follows it, at least
  int parts = 0, improved = 0;  // parts solved; those that need more than their own arcs say
};

// Bounds of start(v) - start(u), for nodes u and later ones v, that add up along paths:
// - Small parts: the nodes on the ways from u to v are a mapping problem of their own with fewer constraints
// than the
//   whole, so its optimum (by `exact`) is a bound.
// - Room: k nodes on ways from u to v need ceil(k / II) tiles. Whatever tiles u and v are on, one of so many
// tiles is at
//   least f(tiles) clocks of transfer on the way from u over it to v (f from the table of transfer times; on
//   a line tiles - 1). So the k-th longest chain from u over a node to v takes at least f(ceil(k / II))
//   clocks more.
// Placement tier; `exact` must return proven bounds (MappingResult::lower_bound).
GapBound gap_bound(const MappingProblem& problem, const Mapper& exact, const GapBoundOptions& options = {});

}  // namespace tilewright::cgra
