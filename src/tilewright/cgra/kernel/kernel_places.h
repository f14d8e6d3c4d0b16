// Tile and start of every node as variables of a formula: the part that formulas over kernels share.
#pragma once

#include <vector>

#include "tilewright/cgra/kernel/start_windows.h"
#include "tilewright/cgra/problem/model.h"
#include "tilewright/cgra/sat/cnf.h"

namespace tilewright::cgra {

// Every node has one allowed tile and one start within its window; one operation per tile and slot; units on
// one tile, pairs apart. The windows take care of fixed times.
class KernelPlaces {
 public:
  KernelPlaces(Cnf& cnf, const PlacementModel& model, const StartWindows& windows);

  int on_tile(int node, int tile) const { return on_tile_[node][tile]; }
  // `clock` lies inside the node's window.
  int starts(int node, int clock) const { return starts_[node][clock - windows_.first[node]]; }
  // Both.
  int here(int node, int tile, int clock) const {
    return here_[node][size_t(clock - windows_.first[node]) * tiles_ + tile];
  }
  const StartWindows& windows() const { return windows_; }

 private:
  void add_nodes(Cnf& cnf, const PlacementModel& model);
  void add_slots(Cnf& cnf, const PlacementModel& model) const;
  void add_tile_rules(Cnf& cnf, const PlacementModel& model) const;

  StartWindows windows_;
  int tiles_ = 0;
  std::vector<std::vector<int>> on_tile_;  // [node][tile]
  std::vector<std::vector<int>> starts_;   // [node][clock - first]
  std::vector<std::vector<int>> here_;     // [node][(clock - first) * tiles + tile]
};

}  // namespace tilewright::cgra
