// What the lattice solver can solve: machines with a main memory, at most one buffer and an array of register
// files, whose tiles are boxes of divisors. A LatticeCase is such a mapspace in compact form: dimensions of
// size 1 dropped, energies folded into one weight per word of each boundary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/spatial/mapspace/map_result.h"
#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright::lattice {

inline constexpr int kMaxDimensions = 10;
inline constexpr int kMaxSpaces = 3;

// One factor of a data space's footprint: a rank of one or two terms, signs dropped (footprints, overlaps and
// distinct tiles do not change when a dimension is reversed).
struct CaseRank {
  int terms = 1;
  int dimension[2] = {0, 0};
  int64_t coefficient[2] = {1, 1};
};

// Energy of the words that cross from a parent to a child, both keepers of a space:
//   per_read * (words read from the parent) + per_fill * (words arriving at all children)
//   - first_read * (distinct words) - first_fill * (distinct words of every child).
// Inputs have no first visits. For outputs a "read" is an update and the read-back that precedes it.
struct BoundaryWeights {
  double per_read = 0, per_fill = 0, first_read = 0, first_fill = 0;
};

struct CaseSpace {
  int space = 0;  // of the workload
  bool output = false;
  uint32_t relevant = 0;    // bits of the case's dimensions
  uint32_t irrelevant = 0;  // the others
  std::vector<CaseRank> ranks;
  std::vector<CaseRank> boxes;  // the same, none taken apart: sides of the box around a tile
  BoundaryWeights top_to_middle, middle_to_low, top_to_low;
  // Words that one tile may have in a reservation of its own; -1: it lives in the shared capacity.
  int64_t low_reserved = -1, middle_reserved = -1;
  bool windowed = false;  // a rank adds two dimensions, so that neighbouring tiles overlap
};

struct LatticeCase {
  const Mapspace* mapspace = nullptr;
  Accounting accounting = Accounting::kTimeloop;
  std::vector<int> dimensions;  // of the workload, those larger than 1
  std::vector<int64_t> sizes;
  std::vector<CaseSpace> spaces;
  double operations = 1;
  // Levels of the hierarchy. Without a buffer `middle` is `top`, no space is kept there a second time and the
  // top level has no loops of its own.
  int top = 0, middle = 0, low = 0;
  bool has_middle = false;
  std::vector<uint32_t> middle_masks;             // allowed sets of spaces (case order) that the buffer keeps
  int64_t low_capacity = 0, middle_capacity = 0;  // words shared by tiles without a reservation
  bool stores_boxes = false;                      // whether a tile takes room for the box around it
  int64_t fanout_x = 1, fanout_y = 1;
  bool one_axis_per_dimension = false;
  // Fixed factors by case dimension; 0: free.
  std::array<int64_t, kMaxDimensions> fixed_top{}, fixed_middle{}, fixed_low{}, fixed_x{}, fixed_y{};
  // Energy of the arithmetic and of its accesses to the innermost memories, and the part of it that an output
  // word's first visit to an instance saves.
  double arithmetic_energy = 0, first_update_saving = 0;
  int output = 0;                      // index into spaces
  const Deadline* deadline = nullptr;  // of all work on the case, which throws Expired

  void check() const {
    if (deadline) deadline->check();
  }
  int dimension_count() const { return int(sizes.size()); }
  int space_count() const { return int(spaces.size()); }
};

// nullopt: the mapspace has a feature that the solver does not support (docs/design/spatial/lattice_solver.md
// lists them). `mapspace` must outlive the case.
std::optional<LatticeCase> lattice_case(const Mapspace& mapspace, const MapperOptions& options);

}  // namespace tilewright::lattice
