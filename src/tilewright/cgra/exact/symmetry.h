// Symmetries of a placement problem: of the fabric (reflections, rotations) and of the graph (nodes that can
// be exchanged).
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/exact/constraints.h"

namespace tilewright::cgra {

// Per tile: the lowest tile that a symmetry takes it to. Symmetries are permutations that keep transfer times
// and every row of `allowed` ([..][tile]); tried are shifts, reflections and transposition of the grid, and
// what they generate.
std::vector<int> tile_representatives(const std::vector<std::vector<int>>& transfer, int columns,
                                      const std::vector<std::vector<uint8_t>>& allowed);

// Groups of at least two nodes with the same neighbours, distances and rules, alone in their units and free:
// exchanging two of them turns a mapping into a mapping.
std::vector<std::vector<int>> twin_nodes(const PlacementConstraints& constraints,
                                         const SortedConstraints& sorted);

}  // namespace tilewright::cgra
