// The lattice of divisor vectors: every box of divisors of the dimension sizes has one index (mixed radix
// over its digits, a digit being a position in the ascending list of a dimension's divisors), and everything
// the solver asks about a box is a table over indices.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tilewright/spatial/lattice/lattice_case.h"

namespace tilewright::lattice {

using Index = uint32_t;

inline constexpr double kNever = std::numeric_limits<double>::infinity();  // cost of what is impossible

struct DivisorList {
  std::vector<int64_t> values;              // ascending
  std::vector<std::vector<int>> multiples;  // digits whose divisor is a multiple, itself first
  std::vector<std::vector<int>> divisors;   // digits whose divisor divides it, ascending
  std::vector<std::vector<int>> covers;     // multiples by one prime
  std::vector<int> quotient;                // [digit * count + divisor digit]: digit of the quotient
  Index stride = 1;
  int count() const { return int(values.size()); }
  int quotient_digit(int digit, int divisor) const { return quotient[size_t(digit * count() + divisor)]; }
};

// Rank of two terms: tables over the digits of a tile, (first * count of second + second).
struct WindowTable {
  int space = 0, first = 0, second = 0;  // dimensions of the case
  int64_t coefficient[2] = {1, 1};
  std::vector<int64_t> elements;  // footprint of the rank
  std::vector<int64_t> words;     // the same, or with the gaps inside
  // Words of the rank that are new after a step along the first (second) dimension by the extent of another
  // digit: [tile * count + step digit].
  std::vector<int64_t> new_words[2];
  // Distinct tiles among spatial[first] x spatial[second] instances: [tile * tiles + spatial].
  std::vector<int64_t> distinct_tiles;
  // Distinct words that one instance touches on its way through all tiles: [tile * tiles + spatial].
  std::vector<int64_t> swept_words;
};

class Lattice {
 public:
  // Boxes that the lattice of a case would have.
  static double size_of(const LatticeCase& problem);
  explicit Lattice(const LatticeCase& problem);

  int dimension_count() const { return int(lists_.size()); }
  Index size() const { return size_; }
  const DivisorList& list(int dimension) const { return lists_[size_t(dimension)]; }
  int digit(Index box, int dimension) const {
    return digits_[size_t(box) * lists_.size() + size_t(dimension)];
  }
  int64_t value(Index box, int dimension) const {
    return lists_[size_t(dimension)].values[size_t(digit(box, dimension))];
  }
  // Points of a box, and of all boxes that tile the iteration space.
  double points(Index box) const { return points_[box]; }
  double tiles(Index box) const { return points_[size_ - 1] / points_[box]; }
  // Product of sizes / extents over the dimensions that a space ignores.
  double ignored_tiles(int space, Index box) const { return ignored_tiles_[size_t(space)][box]; }
  // Words that the accounting moves for a tile: its elements, or for Timeloop the box around them.
  double words(int space, Index box) const { return words_[size_t(space)][box]; }
  // The elements that a tile touches.
  double elements(int space, Index box) const { return elements_[size_t(space)][box]; }
  // The memory that a tile takes.
  double held(int space, Index box) const {
    return held_.empty() ? elements(space, box) : held_[size_t(space)][box];
  }
  const std::vector<WindowTable>& windows() const { return windows_; }
  // Dimensions in ranks of one term.
  uint32_t single_ranks(int space) const { return single_ranks_[size_t(space)]; }
  // Whether the spatial factors of the box fit the array.
  bool fits_array(Index box) const { return fits_array_[box] != 0; }
  // Box of the quotients of two boxes; `part` divides `box`.
  Index quotient(Index box, Index part) const;
  bool divides(Index part, Index box) const;
  // Distinct tiles of a space over the array, and instances as a product.
  double distinct_tiles(int space, Index tile, Index spatial) const;
  // Words that one instance touches in all, with the dimensions that the space ignores held still.
  double swept_words(int space, Index tile, Index spatial) const;

 private:
  void build_lists(const LatticeCase& problem);
  void build_windows(const LatticeCase& problem);
  void build_instance_tables(const LatticeCase& problem, WindowTable& table) const;
  void build_tables(const LatticeCase& problem);

  bool boxes_ = false;  // tiles move with their gaps
  std::vector<DivisorList> lists_;
  Index size_ = 1;
  std::vector<uint8_t> digits_;
  std::vector<double> points_;
  std::vector<std::vector<double>> ignored_tiles_, words_, elements_;
  std::vector<std::vector<double>> held_;  // empty: the elements
  std::vector<WindowTable> windows_;
  std::vector<uint8_t> fits_array_;
  std::vector<uint32_t> single_ranks_;  // by space: dimensions in ranks of one term
};

// Whether spatial factors fit the array with each split over its axes; `on_x`, if given, receives the parts
// along x (the first way that fits, large parts first). With `tiles`, factors may exceed the tiles there are
// as long as no loop does: 5 tiles fit x:2 y:3.
bool split_over_axes(const LatticeCase& problem, std::span<const int64_t> factors,
                     std::span<const int64_t> tiles, std::vector<int64_t>* on_x);

// Distinct values of a*i + b*j with i < tile_a, j < tile_b (nest/footprint.h), and how many of them are also
// in the set moved by `shift`.
int64_t window_words(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b);
// From the first of them to the last.
int64_t window_span(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b);
int64_t window_overlap(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b, int64_t shift);

}  // namespace tilewright::lattice
