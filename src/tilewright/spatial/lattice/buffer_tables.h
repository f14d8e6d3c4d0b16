// The cost of the buffer's tile, for every box and every set of spaces that the buffer keeps: a lower bound
// on the energy between main memory and buffer over all loop orders (infinite where the tiles do not fit),
// and its minima over the boxes that contain a given one.
#pragma once

#include <vector>

#include "tilewright/spatial/lattice/traffic_bounds.h"

namespace tilewright::lattice {

class BufferTables {
 public:
  BufferTables(const LatticeCase& problem, const Lattice& lattice, const TrafficBounds& bounds);

  int mask_count() const { return masks_; }
  // Energy of the box as the buffer's tile.
  double energy(Index middle, int mask) const {
    return energy_[size_t(middle) * size_t(masks_) + size_t(mask)];
  }
  // The least over all boxes that `box` divides.
  double least(Index box, int mask) const { return least_[size_t(box) * size_t(masks_) + size_t(mask)]; }
  // The least over those that equal `box` in the dimensions of the class's run.
  double least_with_run(int order_class, Index box, int mask) const {
    return run_tables_[size_t(table_of_class_[size_t(order_class)])]
                      [size_t(box) * size_t(masks_) + size_t(mask)];
  }

 private:
  void fill_energies(const LatticeCase& problem, const Lattice& lattice, const TrafficBounds& bounds);
  // Minima over multiples in the dimensions of `set`.
  void take_minima(const Lattice& lattice, uint32_t set, std::vector<double>& table) const;

  int masks_ = 0;
  std::vector<double> energy_, least_;
  std::vector<std::vector<double>> run_tables_;
  std::vector<int> table_of_class_;
};

}  // namespace tilewright::lattice
