// Lower bounds of the energy and the cycles of all mappings that share their inner loops: the admissible
// bounds of the exact mapper.
//
// A partial mapping fixes what every level keeps and the factors of the slots from the innermost up to some
// point (spatial/mapspace/mapspace_choices.h), no orders. For a data space and a pair of keepers (parent,
// child) whose tile is known the words that move are at least
// - without reuse: the tiles of all positions, summed. This holds whenever the innermost temporal loop
// outside
//   the tile runs over a dimension whose every step gives disjoint elements ("fresh" below);
// - otherwise: the same for the tile grown by the loops that may stand inside the first fresh one (those over
//   dimensions that the data space does not depend on, or along which its windows slide).
// Which of the two holds is decided by one dimension per level, the same for all data spaces: at most those
// that do not depend on it (or slide along it) are reused. The bound is the best choice of that dimension.
// Reads and updates take the union over the instances that share them; where the outer split is not known, no
// word serves more instances than the fan-out left, nor than there are tiles that can hold it.
// Tiles that are not known yet: every element crosses every pair of keepers once, and no tile that fits does
// better than the best one found by listing (a table, for mapspaces with few tiles).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/mapspace/mapspace_choices.h"

namespace tilewright {

struct PartialMapping {
  std::span<const int64_t> factors;  // as SlotMapping; beyond known_slots not read
  int known_slots = 0;               // a multiple of three, or two more: a level's x and y are known
  std::span<const uint32_t> keeps;
};

struct CostBound {
  double energy = 0;
  int64_t cycles = 0;
};

class MapperBounds {
 public:
  // Errors (unsupported): more dimensions or levels than the limits above.
  MapperBounds(const Mapspace& mapspace, const MapspaceChoices& choices, const CostRules& rules);

  // Of the arithmetic and of every pair of keepers whose child's tile is known.
  CostBound bound(const PartialMapping& partial) const;
  // Energy of everything that crosses into `child` at least, when its tile covers `cover` and nothing outside
  // is known.
  double entry_energy(int child, std::span<const int64_t> cover, std::span<const uint32_t> keeps) const;
  // The same for any tile.
  double compulsory_energy(int child, std::span<const uint32_t> keeps) const;
  // Whether, with the loops over `inside` (and those of the inner levels) inside, every tile around which
  // loops of `level` stand is fetched anew whenever a loop outside them advances.
  bool settled(std::span<const int64_t> factors, std::span<const uint32_t> keeps, int level,
               const std::vector<int>& inside) const;
  // Steps of a mapping whose factors are all known.
  int64_t exact_steps(std::span<const int64_t> factors) const;

 private:
  using Extents = std::array<int64_t, kMaxMapperDimensions>;
  enum class Reuse : uint8_t { kNone, kSlides, kAll };  // what a step along a dimension leaves of a tile

  struct Term {
    int dimension;
    int64_t coefficient;
    int64_t reduced;  // of two terms: divided by what their coefficients have in common
  };
  struct SpaceShape {
    bool output = false;
    int role = 0;
    std::array<Reuse, kMaxMapperDimensions> reuse{};
    std::vector<std::vector<Term>> sliding_ranks;
    double fresh_product = 1;  // elements along the ranks without windows
    double elements = 1;       // distinct ones, all in all
  };
  // The known part of a mapping.
  struct View {
    int tile_level = 0;     // the outermost level whose tile is known
    int spatial_level = 0;  // the outermost level whose spatial factors are known
    std::array<Extents, kMaxMapperLevels + 1> cover;
    std::array<Extents, kMaxMapperLevels> temporal, x, y;
    Extents rest;  // tiles left of every dimension
    std::span<const uint32_t> keeps;
  };
  enum class Sharing : uint8_t { kPerInstance, kMulticast, kReduction, kRows };
  struct Words {
    double fills = 0, reads = 0, updates = 0, rows = 0;
  };
  // Energies of a pair of keepers with and without reuse, and the level whose innermost loop decides; -1: a
  // level not yet known, -2: no loop outside.
  struct PairCost {
    double fresh = 0, reused = 0;
    int decider = -2;
    Words least;
  };

  void make_shapes();
  View view_of(const PartialMapping& partial) const;
  int parent_of(int space, int child, std::span<const uint32_t> keeps) const;
  PairCost pair_cost(const View& view, int space, int parent, int child) const;
  Words words(const View& view, int space, int parent, int child, int run_from) const;
  double moved(const View& view, int space, int parent, int child, Sharing sharing, int run_from) const;
  double rank_sum(const std::vector<Term>& terms, const Extents& extents, uint32_t broken) const;
  double first_visits(const View& view, int space, int level) const;
  double energy_of(int space, int parent, int child, const Words& words, double first_children,
                   double first_parents) const;
  bool shares(Sharing sharing, int level, bool along_x) const;
  int decider(const View& view, int child) const;
  double best_choice(const View& view, int decider,
                     const std::array<double, kMaxMapperDimensions>& by_dimension, double fresh) const;
  int64_t least_steps(const View& view) const;
  int64_t least_cycles(const View& view, int64_t steps, const std::vector<SpaceTraffic>& traffic) const;

  const Mapspace& mapspace_;
  const MapspaceChoices& choices_;
  CostRules rules_;
  int levels_, dimensions_;
  bool has_ports_ = false;
  Extents sizes_{};
  std::vector<size_t> looped_;  // dimensions of more than one iteration
  std::vector<SpaceShape> shapes_;
};

}  // namespace tilewright
