// The search for the best tiles: array tiles in ascending order of their bound, under each the register file
// tiles and spatial factors, under those the buffer's tiles that their bounds leave.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/search/result.h"
#include "tilewright/spatial/lattice/buffer_tables.h"
#include "tilewright/spatial/lattice/loop_orders.h"

namespace tilewright::lattice {

// The best mapping so far. Values closer than kTolerance count as equal (sums of the same terms in different
// orders differ in the last bits); nothing within the tolerance of the best is cut.
struct TileIncumbent {
  static constexpr double kTolerance = 1e-11;
  MapObjective objective = MapObjective::kEnergy;
  bool found = false;
  double energy = 0, cycles = 0;
  Tiles tiles;

  // Of two objectives the first decides, then the second.
  double first(double energy, double cycles) const;
  double second(double energy, double cycles) const;
  // Whether no mapping of at least this energy and these cycles can win, not even by the tie rules.
  bool beats_all(double least_energy, double least_cycles) const;
  // Whether none of those can even tie with it in the first objective.
  bool beats_first(double least_energy, double least_cycles) const;
  // Takes the mapping if it is better. Ties go to the smaller tiles, so the order of visits does not matter.
  bool offer(double energy, double cycles, const Tiles& tiles);
};

struct ArrayTile {
  Index box = 0;
  double least_energy = 0, least_cycles = 0;
};

class TileSearch {
 public:
  TileSearch(const LatticeCase& problem, const MapperOptions& options);

  // Array tiles that can be part of a mapping, the most promising first, with bounds on all mappings that
  // have them.
  const std::vector<ArrayTile>& array_tiles() const { return array_tiles_; }
  const Lattice& lattice() const { return lattice_; }
  const LatticeCase& problem() const { return problem_; }
  int64_t boxes() const { return lattice_.size(); }

  // Searches all mappings with one array tile whose bounds `incumbent` does not beat. Safe to call from
  // several threads, each with its own incumbent, counts and orders. Throws Expired, with the best found by
  // then in `incumbent`.
  void expand(const ArrayTile& tile, TileIncumbent& incumbent, SearchCounts& counts,
              OrderSearch& orders) const;

 private:
  // Register file tile and spatial factors within an array tile.
  struct Split {
    Index array = 0, low = 0, spatial = 0;
    double cycles = 0;
  };
  struct Visit {
    TileIncumbent& incumbent;
    SearchCounts& counts;
    OrderSearch& orders;
    DeadlineWatch watch;
  };

  bool register_files_hold(Index low) const;
  double least_energy_of(Index array) const;
  void list_array_tiles();
  void choose_digit(Split split, int dimension, Visit& visit) const;
  void try_split(const Split& split, Visit& visit) const;
  // Bounds on a split's energy into the register files under one order class and mask.
  struct LowEnergy {
    int order_class = 0, mask = 0;
    double others = 0;   // all spaces but the one at rest
    double at_rest = 0;  // that one, as if it did not rest
    double window = 0;   // of `others`, a window that passes once, at best
  };
  void try_buffers(const Split& split, const LowEnergy& low, Visit& visit) const;
  void try_contained(const Split& split, const LowEnergy& low, Index run_box, double energy,
                     Visit& visit) const;
  // How often at least a window passes that may keep its overlaps through loops it ignores.
  double window_passes(const Split& split, Index middle) const;
  void evaluate(const Split& split, Index middle, int mask, Visit& visit) const;
  double ignored_instances(Index spatial) const;

  const LatticeCase& problem_;
  MapperOptions options_;
  Lattice lattice_;
  TrafficBounds bounds_;
  BufferTables buffer_;
  int window_ = -1;                    // exact accounting: the space with windows
  std::vector<uint8_t> low_holds_;     // whether the box fits a register file
  std::vector<double> most_parallel_;  // points of the largest spatial box inside
  std::vector<ArrayTile> array_tiles_;
};

}  // namespace tilewright::lattice
