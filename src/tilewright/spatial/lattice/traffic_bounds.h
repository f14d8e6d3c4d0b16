// Lower bounds on traffic that do not need the loop orders or the tiles of the buffer.
//
// Orders fall into classes by the innermost loops of a level. At most one space is at rest there (no two
// spaces ignore the same dimension); all others are fetched again for every pass through all loops outside
// their tile, except for what a sliding window keeps. docs/design/spatial/lattice_solver.md proves each
// bound.
#pragma once

#include <vector>

#include "tilewright/spatial/lattice/lattice.h"

namespace tilewright::lattice {

struct OrderClass {
  int resting = 0;             // space that the innermost loops do not move
  uint32_t run = 0;            // dimensions of those loops
  bool window_passes = false;  // kExact: the windowed space may also rest during the loops it ignores
};

struct Traffic {
  double reads = 0, fills = 0;  // from parents; into all children
};

std::vector<OrderClass> order_classes(const LatticeCase& problem);

class TrafficBounds {
 public:
  TrafficBounds(const LatticeCase& problem, const Lattice& lattice);

  const std::vector<OrderClass>& classes() const { return classes_; }
  // Product of outer iterations of the dimensions in `set` around a box.
  double outer(uint32_t set, Index box) const;

  // Words of `space` that any mapping with these tiles moves into the register files (with their parent
  // whichever it is) when the orders are of the class and the space is not at rest.
  Traffic into_low(int space, const OrderClass& orders, Index low, Index array, Index spatial) const;
  // The same for any register file tiles and spatial factors of an array tile.
  Traffic into_array(int space, const OrderClass& orders, Index array) const;
  // Words into the buffer; the space at rest included.
  double into_middle(int space, const OrderClass& orders, Index middle) const;

 private:
  double slide_factor(int space, uint32_t slide, Index tile, Index step) const;
  // kTimeloop: dimensions along which the windows of a space may slide.
  uint32_t slide_of(int space, const OrderClass& orders) const;
  double passes(int space, const OrderClass& orders, Index box) const;

  const LatticeCase& problem_;
  const Lattice& lattice_;
  std::vector<OrderClass> classes_;
  bool exact_ = false;
};

// Energy of traffic over a boundary, less what first visits save.
inline double boundary_energy(const BoundaryWeights& weights, const Traffic& traffic) {
  return weights.per_read * traffic.reads + weights.per_fill * traffic.fills;
}

}  // namespace tilewright::lattice
