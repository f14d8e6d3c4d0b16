// Windows of start times that follow from the values' routes alone: shortest gaps of the edges, chains,
// loops, and the room near a tile where many consumers of one value must sit on different tiles.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cgra/exact/constraints.h"

namespace tilewright::cgra {

// Start of `to` >= start of `from` + gap, whatever the tiles.
struct TimeArc {
  int from = 0, to = 0, gap = 0;
};

struct TimeWindows {
  std::vector<int> low, high;  // per node, both included
  std::vector<Edge> edges;     // whose timing has to be kept
};

class TimeBounds {
 public:
  // Keeps references. Not `derived`: only the gaps that edges have whatever the tiles, without what follows
  // from rules on tiles and slots.
  TimeBounds(const PlacementConstraints& constraints, const SortedConstraints& sorted, bool derived = true);

  // All starts of all mappings with makespan <= horizon; nothing: there is no such mapping.
  std::optional<TimeWindows> within(int horizon) const;
  // The least horizon with windows, searched up to `most`; nothing: none up to there.
  std::optional<int> least_makespan(int most) const;

  // Windows that decide whether a mapping of any length exists. Nodes fall into blocks whose starts lie
  // within bounded gaps of each other in every mapping (loops; waits that are bounded; fixed times). A block
  // can be shifted by multiples of II without touching slots, and an edge between blocks is met by shifting
  // later blocks far enough, so only edges inside blocks are kept, and one node of each block starts within
  // one II. Times are up to a multiple of II per block. Nothing: the gaps contradict each other.
  std::optional<TimeWindows> any_length() const;

 private:
  // Consumers of one value (or producers of one node's operands) that are pairwise apart.
  struct Fan {
    int centre = 0;
    bool out = true;
    std::vector<int> nodes;
    std::vector<int> offset;  // of each: latency - distance * II
  };
  void make_arcs(bool derived);
  void make_fans();
  void make_radii();
  void tighten_high(const Fan& fan, TimeWindows& windows) const;
  void raise_low(const Fan& fan, TimeWindows& windows) const;
  std::vector<int> blocks(const std::vector<TimeArc>& arcs, int nodes) const;

  const PlacementConstraints* constraints_;
  const SortedConstraints* sorted_;
  std::vector<TimeArc> arcs_;
  bool contradiction_ = false;  // an edge that no pair of tiles can serve
  std::vector<Fan> fans_;
  std::vector<std::vector<int>> out_radii_, in_radii_;  // per centre tile: transfer times, ascending
};

// Starts with the given slots, each as early as the others allow; nothing: the slots and tiles admit none.
// Source: least solution of a system of difference constraints (Bellman-Ford), in steps of II.
std::optional<std::vector<int>> earliest_times(const PlacementConstraints& constraints,
                                               const SortedConstraints& sorted, const std::vector<int>& tiles,
                                               const std::vector<int>& slots);

}  // namespace tilewright::cgra
