// Factors that need not divide: what one dimension contributes to the counts for every choice of its factors.
//
// With a register file tile of `low` iterations, `spatial` of them side by side and `middle` array tiles in
// the buffer's tile, the tiles of a dimension of size D are aligned: its counts follow from
//   low_tiles = ceil(D / low), array_tiles = ceil(low_tiles / spatial), middle_tiles = ceil(array_tiles /
//   middle).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/spatial/lattice/lattice_case.h"

namespace tilewright::lattice {

// One split of a dimension over space.
struct LowChoice {
  int64_t low = 1, spatial = 1;
  int64_t low_tiles = 1, array_tiles = 1;
  int64_t steps = 1;  // lockstep steps along the dimension
  // Instances that ever work. Fewer than `spatial` when both axes share the dimension: 5 tiles on x:2 y:3.
  int64_t used() const { return spatial < low_tiles ? spatial : low_tiles; }
};

// How many array tiles the buffer's tile holds.
struct MiddleChoice {
  int64_t middle = 1, middle_tiles = 1;
  int64_t extent = 1;  // of the buffer's tile
  // Instances that work in a tile of the buffer, added up over those tiles.
  int64_t active = 1;
};

LowChoice low_choice(int64_t size, int64_t low, int64_t spatial);
MiddleChoice middle_choice(int64_t size, const LowChoice& split, int64_t middle);

class RemainderChoices {
 public:
  explicit RemainderChoices(const LatticeCase& problem);

  // Splits with `spatial` instances, ascending tiles. Of a dimension without windows those that no other one
  // beats or equals in tile size, tiles and steps; of a dimension in a window all, since its tiles overlap.
  const std::vector<LowChoice>& low(int dimension, int64_t spatial) const {
    return low_[size_t(dimension)][size_t(spatial)];
  }
  int64_t most_spatial(int dimension) const { return int64_t(low_[size_t(dimension)].size()) - 1; }
  // Fewest steps of any split with `spatial` instances.
  int64_t least_steps(int dimension, int64_t spatial) const {
    return least_steps_[size_t(dimension)][size_t(spatial)];
  }
  // Fewest instances that work in any of them.
  int64_t least_used(int dimension, int64_t spatial) const;
  // Choices of the buffer's tile around a split, fewest tiles first, by the same rule.
  void list_middle(int dimension, const LowChoice& split, std::vector<MiddleChoice>& choices) const;
  bool windowed(int dimension) const { return (windowed_ >> dimension & 1u) != 0; }

 private:
  const LatticeCase& problem_;
  uint32_t windowed_ = 0;
  std::vector<std::vector<std::vector<LowChoice>>> low_;
  std::vector<std::vector<int64_t>> least_steps_;
};

// Elements of a space that a tile of `extents` touches.
double elements_of(const CaseSpace& space, std::span<const int64_t> extents);

}  // namespace tilewright::lattice
