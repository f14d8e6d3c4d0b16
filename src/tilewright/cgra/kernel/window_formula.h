// Placement and routing of a whole loop kernel at one II as one formula, every node's start within a window.
#pragma once

#include <vector>

#include "tilewright/cgra/kernel/start_windows.h"
#include "tilewright/cgra/model.h"
#include "tilewright/cgra/sat/cnf.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {

// A formula whose models are the valid routed mappings with starts inside the windows (links within the
// clock). Kept with its variables, so that a model can be read back.
class WindowFormula {
 public:
  // `model` of a verified problem of the routed tier; `windows` satisfy nothing in particular: an empty one
  // makes the formula false.
  WindowFormula(const Fabric& fabric, const PlacementModel& model, const StartWindows& windows);

  const Cnf& cnf() const { return cnf_; }
  // Places and routes of the model that `solver` found.
  Mapping read(const SatSolver& solver) const;
  // Node on tile.
  int on_tile(int node, int tile) const { return on_tile_[node][tile]; }
  // Node starts at clock; inside its window.
  int starts(int node, int clock) const { return starts_[node][clock - windows_.first[node]]; }

 private:
  // A value between its first possible appearance and its last possible use.
  struct Value {
    int first_clock = 0, clocks = 0;  // clocks: 0 where nobody consumes it
    std::vector<int> there;           // [clock][tile]: at the start of the clock
    std::vector<int> reach;           // [clock][hops 1..][tile]: after that many links within the clock
    std::vector<int> waits;           // [clock][tile]: stays into the next clock
    std::vector<int> links;           // [clock][link]
  };

  void add_places();
  void add_slots();
  void add_tile_rules();
  void add_timing();
  void add_distance(const Edge& edge);
  void add_value(int node);
  void add_use(const Edge& edge);
  void add_storage();
  int at_tile(int node, int tile, int clock) const {
    return here_[node][size_t(clock - windows_.first[node]) * tiles_ + tile];
  }
  bool inside(int node, int clock) const {
    return clock >= windows_.first[node] && clock <= windows_.last[node];
  }
  int reach(const Value& value, int clock, int hops, int tile) const;
  Route route(const SatSolver& solver, const Edge& edge, const Mapping& mapping) const;

  const Fabric& fabric_;
  const PlacementModel& model_;
  StartWindows windows_;
  int tiles_ = 0;
  std::vector<FabricLink> links_;
  std::vector<std::vector<int>> arriving_;  // per tile: link ids
  std::vector<std::vector<int>> on_tile_;   // [node][tile]
  std::vector<std::vector<int>> starts_;    // [node][clock - first]
  std::vector<std::vector<int>> here_;      // [node][(clock - first) * tiles + tile]
  std::vector<Value> values_;               // per node
  Cnf cnf_;
};

}  // namespace tilewright::cgra
