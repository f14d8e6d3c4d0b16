// A placement problem flattened for the learned policy: nodes in the order in which they are placed, and the
// parts of the graph that bound the makespan of every completion. All tables are static; PlacementEnvironment
// walks over them.
//
// The bounds. L(a, x) is the longest chain from the start of a to the start of x, tail(x) from its start to
// the end of the graph, D the transfer table. Once u and v are placed, a common descendant x needs
//   2 start(x) >= start(u) + L(u, x) + start(v) + L(v, x) + D(u, v)          (`meets`)
// a later node w of v's unit sits on v's tile and needs start(w) >= start(u) + L(u, w) + D(u, v)  (`mates`)
// and a descendant x whose unit has a tile needs start(x) >= start(v) + L(v, x) + D(v, x)         (`returns`)
// each plus tail(x) or tail(w) bounds the makespan from below. If the transfer table is not a metric, the
// possible savings of intermediate operations are subtracted.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {

enum class PlacementOrder : uint8_t {
  kTopological,  // as PlacementModel::topological
  kLongestTail,  // of the nodes whose operands are placed, the one with the longest chain after it
};

struct PlacementInstance {
  static constexpr int kLanes = 16;  // tiles are padded to a multiple
  static constexpr int kMostTiles = 64, kMostSlots = 64;
  static constexpr int kMostNodes = 32767;  // they are numbered in 16 bits
  static constexpr int kMostCycles = 7000;  // of a schedule: sums of four stay within 16 bits
  static constexpr int kKin = 12;           // `meets` kept per node, those of the longest chains
  static constexpr int16_t kFar = 8192;     // transfer to padding

  struct Reach {
    int16_t node = 0, cycles = 0;
  };
  // A start's limits from a neighbour, by tile: rows of `least` (and `most`) added to the neighbour's start.
  struct Limit {
    int16_t node = 0, shift = 0;  // shift: distance * II, subtracted for operands, added for consumers
    bool operand = true;
  };

  PlacementModel model;
  int width = 0;                     // padded tiles
  std::vector<int16_t> order;        // nodes to place; those fixed in tile and time are not among them
  std::vector<int16_t> preplaced;    // nodes fixed in tile and time
  std::vector<int16_t> tail;         // per node, clocks
  std::vector<int16_t> earliest;     // per node: longest chain before it, clocks
  std::vector<uint64_t> allowed;     // per unit: tiles, a bit each
  std::vector<int16_t> least, most;  // [from][to] gaps between starts; most is empty where waits are free
  std::vector<int16_t> least_to;     // transposed
  std::vector<int16_t> most_to;
  std::vector<int16_t> distance;    // [tile][tile] transfer, kFar in the padding
  std::vector<int16_t> near;        // [tile][tile] 1 within two clocks of transfer
  std::vector<int16_t> near_tiles;  // per tile: how many are that near
  bool restricted = false;          // some node may not sit on every tile
  std::vector<int16_t> border;      // per tile: mean transfer to the others beyond the least such mean
  std::vector<std::vector<Limit>> operands;  // placed before the node; no upper limits
  std::vector<std::vector<Limit>> others;    // limits that need both sides or may not be placed yet
  std::vector<std::vector<Reach>> meets, mates, returns;
  std::vector<std::vector<int16_t>> partners;  // placed before, with a common consumer
  std::vector<std::vector<Reach>> around;  // per tile: itself and up to four tiles within a clock's transfer
  std::vector<std::vector<int16_t>> apart_units;  // per unit: units that its tile is closed to
  std::vector<std::vector<int16_t>> cliques_of;   // per node
  std::vector<std::vector<int16_t>> cliques;      // nodes on pairwise different tiles
  int most_apart = 0;  // largest number of tiles that the apart rule can close to a unit
  int largest_unit = 1;
  int bound = 0;  // least makespan of any placement: the longest chain

  int nodes() const { return model.nodes; }
  int decisions() const { return int(order.size()); }
};

// `later_cycles` (per node, or empty) delays nodes in the order: they queue as if their tail were so much
// shorter. Throws Expired when the time of the model's deadline is over. Errors (unsupported): more than
// kMostNodes nodes, kMostTiles tiles or kMostSlots slots, a node fixed beyond kMostCycles, a chain of more
// than kMostCycles / 2.
PlacementInstance compile_instance(const PlacementModel& model, PlacementOrder order,
                                   const std::vector<int>& later_cycles = {});

// The features of the graph network, [node][kNodeFeatures], about unit scale.
constexpr int kNodeFeatures = 14;
std::vector<float> node_features(const PlacementInstance& instance);

// Neighbours in the graph network, per node: operands' producers, consumers, the rest of its unit.
struct NodeNeighbours {
  std::vector<std::vector<int>> operands, consumers, mates;
};
NodeNeighbours node_neighbours(const PlacementInstance& instance);

}  // namespace tilewright::cgra
