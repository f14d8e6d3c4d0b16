// The input of a mapper: a graph, a fabric, an initiation interval, the rules, and what is already decided.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"
#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/hardware/fabric.h"

namespace tilewright::cgra {

// How long a value may wait between its earliest arrival and its use.
enum class Delay : uint8_t {
  kNone,     // not at all
  kBounded,  // `delay_per_hop` clocks for every unit of max(1, transfer cycles)
  kUnbounded,
};

// The rules of a mapping; the fabric gives the usual ones.
struct Rules {
  StarterRule starters_apart = StarterRule::kOff;
  bool siblings_apart = false;
  bool variables_together = true;
  Delay delay = Delay::kUnbounded;
  int delay_per_hop = 1;  // for kBounded
  bool routed = false;    // links, pass-through values and delay registers carry one value per slot
  bool operator==(const Rules&) const = default;
};

Rules usual_rules(const Fabric& fabric);

struct MappingProblem {
  DataflowGraph graph;
  Fabric fabric;
  int ii = 1;
  Rules rules;
  std::vector<std::optional<int>> fixed_tiles;  // per node; empty: none is fixed
  std::vector<std::optional<int>> fixed_times;  // per node; empty: none is fixed

  // Graph, fabric and their fit, all problems at once (II outside 1..max_ii, fixed tiles that do not exist,
  // fixed times above 2^24, two fixed tiles for one variable, ...). The mappers decide whether a mapping
  // exists.
  void verify(Diagnostics& diagnostics) const;
};

}  // namespace tilewright::cgra
