// Footprints: which elements of a data space a tile touches. A tile is a box of the iteration space: for
// every dimension of the workload a first index and a number of iterations. No function here allocates,
// except for ranks of three and more terms that do not merge.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/nest/workload.h"

namespace tilewright {

// Distinct elements of `space` that a tile of `extents` iterations per dimension touches, wherever it lies,
// padding included. Exact for every combination of strides and dilations, gaps included.
//
// For one rank a*x + b*y (a, b > 0, x < X, y < Y): with a' = a/gcd(a,b), b' = b/gcd(a,b) two points coincide
// exactly when they differ by a multiple of (b', -a'), so the values are X*Y - max(0, X-b') * max(0, Y-a').
int64_t footprint(const DataSpace& space, std::span<const int64_t> extents);

// The same for the tile that begins at `begins`, counting only elements that are stored (not padding).
int64_t stored_footprint(const DataSpace& space, std::span<const int64_t> begins,
                         std::span<const int64_t> extents);

// Distinct values of one rank.
int64_t rank_footprint(const Rank& rank, std::span<const int64_t> extents);
int64_t stored_rank_footprint(const Rank& rank, std::span<const int64_t> begins,
                              std::span<const int64_t> extents);

// A closed interval of indices; empty when last < first.
struct IndexRange {
  int64_t first = 0, last = -1;
  int64_t size() const { return last < first ? 0 : last - first + 1; }
  bool operator==(const IndexRange&) const = default;
};

// The smallest interval that holds every index of one rank; padding included (it may begin below 0 and end
// beyond the rank's size).
IndexRange bounding_range(const Rank& rank, std::span<const int64_t> begins,
                          std::span<const int64_t> extents);
// The part of `range` that is stored.
IndexRange stored_part(const Rank& rank, IndexRange range);
// Product of the extents of the bounding ranges: what a buffer without gaps has to hold.
int64_t bounding_box(const DataSpace& space, std::span<const int64_t> extents);

}  // namespace tilewright
