// Bounds for factors that need not divide, as functions of the numbers of tiles alone.
//
// A space without windows is cut into tiles that meet without overlap, so one pass over it moves its elements
// once, and its traffic is its elements times the passes that the loops it ignores cause: numbers of tiles.
#pragma once

#include <vector>

#include "tilewright/spatial/lattice/remainder_choices.h"
#include "tilewright/spatial/lattice/traffic_bounds.h"

namespace tilewright::lattice {

using Counts = std::array<double, kMaxDimensions>;

double product_over(uint32_t set, const Counts& counts);

// Least energy between main memory and buffer for tiles of at least certain numbers, on a coarse grid: a cell
// stands for numbers of tiles from `least` on, and for extents of the most tiles of the cell.
class MiddleGrid {
 public:
  explicit MiddleGrid(const LatticeCase& problem);

  int cell_of(int dimension, int64_t tiles) const;
  double least_tiles(int dimension, int cell) const {
    return double(least_[size_t(dimension)][size_t(cell)]);
  }
  int64_t extent(int dimension, int cell) const { return extent_[size_t(dimension)][size_t(cell)]; }
  // The least energy of any cell whose coordinates are at most `cells`.
  double least(std::span<const int> cells, int mask) const { return value(least_table_, cells, mask); }
  // The same with the coordinates of the class's run fixed.
  double least_with_run(int order_class, std::span<const int> cells, int mask) const {
    return value(run_tables_[size_t(table_of_class_[size_t(order_class)])], cells, mask);
  }

 private:
  double value(const std::vector<float>& table, std::span<const int> cells, int mask) const;
  void choose_cells(const LatticeCase& problem);
  void fill(const LatticeCase& problem);
  void take_minima(uint32_t set, std::vector<float>& table) const;

  int masks_ = 0;
  size_t size_ = 1;
  std::vector<std::vector<int64_t>> least_, extent_;
  std::vector<size_t> strides_;
  std::vector<OrderClass> classes_;
  std::vector<float> energy_, least_table_;
  std::vector<std::vector<float>> run_tables_;
  std::vector<int> table_of_class_;
};

// Energy over the boundary above the buffer, first visits taken off; a bound with windows.
double middle_energy(const LatticeCase& problem, const OrderClass& orders, uint32_t mask,
                     const Counts& middle_tiles, std::span<const double> elements);
bool middle_holds(const LatticeCase& problem, uint32_t mask, std::span<const int64_t> extents);
bool low_holds(const LatticeCase& problem, std::span<const int64_t> extents);

}  // namespace tilewright::lattice
