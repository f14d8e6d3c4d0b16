// The rules of a placement problem as a list of instances ("these two share a variable", "this value reaches
// that node"), any part of which can be left out. The whole list is the problem; the explanation of an
// impossible problem is a part of it.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {

// One instance of a rule of the placement tier:
//   kSlot          `first` occupies its (tile, slot)
//   kTiming        `edge`
//   kVariable      `first` and `second` share a tile
//   kStarters, kSiblings  `first` and `second` sit on different tiles
//   kFixed         `first` is on `tile` (or, where tile is -1, starts at `time`)
//   kMemoryTile    `first` is in column 0
//   kInstructions  `first` takes an entry of its tile's instruction RAM
//   kTileMemory    the variables of `first` take room in its tile's memories
struct Requirement {
  Rule rule = Rule::kSlot;
  int first = -1, second = -1;
  Edge edge;
  int tile = -1, time = -1;
};

// A variable's room in the tile memories: `size` entries on each tile where one of `users` is.
struct StoredVariable {
  int size = 0;
  std::vector<int> users;
};

struct PlacementConstraints {
  PlacementModel model;  // of the whole problem: transfer times, II, latency, delays
  int columns = 1;
  int instructions = 0;  // per tile
  int tile_memory = 0;   // entries per tile
  std::vector<StoredVariable> variables;
  std::vector<Requirement> list;
  // Per node, empty for the usual ones: its earliest start (0), and clocks from its start to the end of
  // everything that counts after it (the operation's latency). The makespan is max(start + tail).
  std::vector<int> release_cycles, tail_cycles;

  int release(int node) const { return release_cycles.empty() ? 0 : release_cycles[node]; }
  int tail(int node) const { return tail_cycles.empty() ? model.latency_cycles : tail_cycles[node]; }
  int makespan(const std::vector<Place>& places) const;
};

// `problem` has been verified. Rules that can never bind (more instructions than slots, room for all
// variables on one tile) are left out.
PlacementConstraints placement_constraints(const MappingProblem& problem, const Deadline* deadline = nullptr);

// The list, sorted as its users need it.
struct SortedConstraints {
  std::vector<uint8_t> occupies;              // per node: a slot
  std::vector<uint8_t> counted, stored;       // per node: kInstructions, kTileMemory
  std::vector<Edge> edges;                    // no two between the same nodes with the same distance
  std::vector<int> unit;                      // per node, numbered by the first node
  std::vector<std::vector<int>> units;        // nodes that share a tile
  std::vector<std::vector<uint8_t>> allowed;  // [unit][tile]
  std::vector<int> fixed_time;                // per node; -1: free
  std::vector<std::vector<int>> apart_of;     // per unit: units on other tiles (itself: impossible)
  std::vector<std::vector<int>> cliques;      // units that are pairwise apart; together every such pair
};
SortedConstraints sort_constraints(const PlacementConstraints& constraints);

}  // namespace tilewright::cgra
