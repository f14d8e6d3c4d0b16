// Parts of an array that are arrays themselves: a kernel that fits a small array fits every larger one that
// contains it.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

// The rows x columns tiles at the corner of tile 0, without wrapping links; every link of it is one of
// `fabric`. rows <= fabric.rows, columns <= fabric.columns.
Fabric corner_array(const Fabric& fabric, int rows, int columns);

// A mapping onto corner_array(fabric, rows, columns) as one onto `fabric`.
GraphMapping embed_mapping(GraphMapping mapping, const Fabric& corner, const Fabric& fabric);

// Square corners without wrapping links (cut at the fabric's edges) with space for `operations` at `ii`, from
// 4 x 4 up, and finally the fabric itself.
std::vector<Fabric> growing_arrays(const Fabric& fabric, int operations, int ii);

// Tiles of which one in every class of tiles that the array's reflections and rotations exchange: a mapping
// exists exactly if one exists with a node of choice on one of these. `allowed` as in PlacementModel: a
// symmetry that it does not share does not count. Throws Expired when the time of `deadline`, if any, is
// over.
std::vector<int> representative_tiles(const Fabric& fabric, const std::vector<std::vector<uint8_t>>& allowed,
                                      const Deadline* deadline = nullptr);

}  // namespace tilewright::cgra
