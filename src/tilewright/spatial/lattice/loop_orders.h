// The best loop orders of given tiles, exactly: over all permutations of the loops of both outer levels.
//
// What a loop adds to the traffic of a space when it advances depends on which loops lie inside it, not on
// their order, and how often it advances on the product of those outside. The cheapest order is therefore a
// shortest path over sets of loops, 2^k of them instead of k! permutations; the loops of the two levels
// separate.
#pragma once

#include <unordered_map>
#include <vector>

#include "tilewright/spatial/lattice/lattice.h"

namespace tilewright::lattice {

// Tiles of one mapping: `middle` of the buffer, `array` of all instances together, `low` of one instance.
struct Tiles {
  Index middle = 0, array = 0, low = 0;
  uint32_t mask = 0;  // spaces that the buffer keeps
};

struct LoopOrders {
  std::vector<int> middle, top;  // dimensions of the case, innermost first, factors of 1 left out
};

// How a step moves one rank of a tile.
struct RankWords {
  int64_t tile = 1, tile_kept = 1;  // of one child: its words, and those it still has after the move
  int64_t all = 1, all_kept = 1;  // of all children: the words they hold, and those that none of them fetches
};

class OrderSearch {
 public:
  OrderSearch(const LatticeCase& problem, const Lattice& lattice);

  // Energy of the mapping with its best orders.
  double energy(const Tiles& tiles) { return search(tiles, nullptr); }
  double energy(const Tiles& tiles, LoopOrders& orders) { return search(tiles, &orders); }

 private:
  struct Loop {
    int dimension = 0;
    int64_t factor = 1, step = 1;
  };
  // One boundary of one space, seen from the loops of one level.
  struct Boundary {
    const CaseSpace* space = nullptr;
    Index tile = 0, spatial = 0;  // of one child, and how the children differ
    double per_read = 0, per_fill = 0;
    double instances = 1, distinct = 1;
    double words = 0, words_read = 0;  // of one child's tile; of all children's, from the parents
    uint32_t single_ranks = 0;
    bool below = false;  // the loops of the level inside lie between tile and this level
  };
  struct Words {
    double read = 0, filled = 0;  // from parents; by one child
  };

  double search(const Tiles& tiles, LoopOrders* orders);
  // The cheapest order of `loops_`: words fetched after the first tile, in one pass through the level.
  double cheapest_order(std::vector<int>* order);
  const RankWords& window_moves(const Boundary& boundary, const CaseRank& rank, int64_t shift);
  Words overlapping_words(const Boundary& boundary, uint32_t inside, const Loop& loop);
  // `moving_inside`: the dimensions of the loops in the set `inside`.
  Words new_words(const Boundary& boundary, uint32_t inside, uint32_t moving_inside, const Loop& loop);
  double advance_cost(const Loop& loop, uint32_t inside, uint32_t moving_inside);
  void set_loops(Index outer, Index inner);
  double add_boundary(int space, Index tile, Index spatial, const BoundaryWeights& weights, bool below);

  const LatticeCase& problem_;
  const Lattice& lattice_;
  std::vector<Loop> loops_;
  std::vector<Boundary> boundaries_;
  uint32_t loops_below_ = 0;                           // dimensions that have a loop in the level inside
  std::array<int64_t, kMaxDimensions> reset_below_{};  // iterations that those go back
  std::unordered_map<uint64_t, RankWords> remembered_;
  std::vector<double> best_;
  std::vector<int> last_;
};

}  // namespace tilewright::lattice
