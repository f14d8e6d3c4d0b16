// A partial placement that grows and shrinks by one node, and the earliest start of a node on a tile: random
// sampling, annealing, evolution, list scheduling, branch and bound and the learned policy all build mappings
// with it.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {

class PlacementState {
 public:
  static constexpr int kNever = -1;

  // Keeps a reference to `model`.
  explicit PlacementState(const PlacementModel& model);
  void reset();

  // The earliest clock, `from` or later, at which `node` (not yet placed) can start on `tile` given what is
  // placed, or kNever: the tile is not allowed, holds a node it must be apart from, is not the tile of its
  // unit, has no space beyond that reserved for units that live there, or no clock meets the placed
  // neighbours. A unit's first node needs slots for all of its unit.
  int earliest(int node, int tile, int from = 0) const;
  void place(int node, int tile, int time);
  // Undoes the last placement.
  void undo();

  const PlacementModel& model() const { return *model_; }
  bool placed(int node) const { return places_[size_t(node)].time >= 0; }
  int placed_count() const { return int(history_.size()); }
  // Tile -1, time -1: not placed.
  const std::vector<Place>& places() const { return places_; }
  // End of the last operation placed, 0 with none.
  int makespan() const { return history_.empty() ? 0 : history_.back().makespan; }
  // Operations that the tile still takes (its slots, its instruction RAM) and no unit on it still needs.
  int free_slots(int tile) const { return free_[size_t(tile)] - kept_[size_t(tile)]; }
  // Whether a node that must be apart from `node`'s unit, or a node that shares a tile with such a one, has
  // the tile.
  bool blocked(int node, int tile) const {
    return blocked_[size_t(model_->unit[size_t(node)]) * size_t(model_->tiles) + size_t(tile)] != 0;
  }
  int unit_tile(int node) const { return unit_tile_[size_t(model_->unit[size_t(node)])]; }

 private:
  struct Step {
    int node = 0, makespan = 0;
  };
  bool fits(int node, int tile) const;
  void block(size_t unit, int tile, int by);
  int first_free(int tile, int low, int high) const;
  uint8_t& taken(int tile, int time) {
    return taken_[size_t(tile) * size_t(model_->ii) + size_t(time % model_->ii)];
  }

  const PlacementModel* model_;
  std::vector<Place> places_;
  std::vector<Step> history_;
  std::vector<uint8_t> taken_;        // [tile][slot]
  std::vector<uint64_t> taken_bits_;  // [tile], where II fits a word
  std::vector<int> free_, kept_;      // per tile
  std::vector<int> blocked_;          // [unit][tile], number of units there that keep it off
  std::vector<int> unit_tile_;        // per unit; -1: none yet
  std::vector<int> unit_placed_;      // per unit: nodes placed
};

}  // namespace tilewright::cgra
