// A mapping problem compiled into the form that mappers and the checker use: edges with their least delays,
// units of nodes that share a tile, pairs that may not, allowed tiles. The one place where rules become
// constraints.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tilewright/cgra/problem/problem.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

struct PlacementModel {
  int nodes = 0, tiles = 0, ii = 1, latency_cycles = 1;
  int tile_operations = 1;  // at most, on one tile: its slots, and what its instruction RAM holds
  Rules rules;
  std::vector<Edge> edges;                 // as DataflowGraph::edges()
  std::vector<std::vector<int>> incoming;  // per node: edge ids
  std::vector<std::vector<int>> outgoing;
  std::vector<std::vector<int>> transfer;  // [tile][tile] clocks, transfer_cycles()
  std::vector<int> unit;                   // per node: id of its unit (nodes that share a tile)
  std::vector<std::vector<int>> units;     // node ids of each unit, ascending
  // Pairs of nodes (first < second, sorted, no duplicates) that sit on different tiles, and why.
  enum class Why : uint8_t { kStarters, kSiblings };
  struct Apart {
    int first = 0, second = 0;
    Why why = Why::kStarters;
    int cause = -1;  // kSiblings: the common producer
  };
  std::vector<Apart> apart;
  std::vector<std::vector<int>>
      units_apart;  // per unit: the units on other tiles, ascending; itself where it contradicts
  std::vector<std::vector<int>> apart_of;  // per node: the other nodes
  std::vector<std::vector<uint8_t>>
      allowed;                         // [node][tile], equal within a unit: memory columns, fixed tiles
  std::vector<int> fixed_time;         // per node; -1: free
  std::vector<int> topological;        // order over edges of distance 0
  const Deadline* deadline = nullptr;  // of all work on this model

  // Throws Expired when the time is over: for loops over pairs of tiles or nodes.
  void check() const {
    if (deadline) deadline->check();
  }

  static constexpr int kNoLimit = std::numeric_limits<int>::max();
  // Start of `to` minus start of `from` (distance * II added) lies in [least_gap, most_gap].
  int least_gap(int from_tile, int to_tile) const { return latency_cycles + transfer[from_tile][to_tile]; }
  int most_gap(int from_tile, int to_tile) const;
};

// `problem` has been verified. `deadline`, if any, outlives the model; throws Expired.
PlacementModel compile_model(const MappingProblem& problem, const Deadline* deadline = nullptr);

}  // namespace tilewright::cgra
