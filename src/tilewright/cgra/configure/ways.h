// The routes of all values as settings of tiles: which value a link takes, which one a delay register keeps.
#pragma once

#include <map>
#include <vector>

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

struct Ways {
  struct Slot {
    std::map<int, ValueSource> outputs;    // by target tile
    std::map<int, ValueSource> registers;  // by number
  };
  std::map<std::pair<int, int>, Slot> slots;  // (tile, slot)
  std::vector<ValueSource>
      inputs;  // per edge of the graph: the source from which its consumer reads the value
};

// `mapping` has been checked, routes included.
Ways settle_ways(const MappingProblem& problem, const GraphMapping& mapping);

}  // namespace tilewright::cgra
