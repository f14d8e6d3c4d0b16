// A mapping: how a workload's loops are tiled over a hierarchy of memories, outermost (largest) level first.
//
// One instance of a level holds a tile of each data space that it keeps; the loops of the level cut that tile
// into the tiles of the next level. Temporal loops visit them one after the other, outermost loop first;
// spatial loops, which lie inside the temporal ones of their level, assign them to different instances of the
// next level. The iteration index along a dimension is the mixed-radix number of its loops' indices.
//
// Factors need not divide: a tile's extent is the product of the factors inside it, cut off at what is left
// of the dimension, so the last tiles are smaller. size 10 as 3 (outer) x 4 (inner) gives tiles of 4, 4
// and 2.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/nest/workload.h"

namespace tilewright {

enum class SpatialAxis : uint8_t { kX, kY };

struct TemporalLoop {
  int dimension = 0;
  int64_t factor = 1;
  bool operator==(const TemporalLoop&) const = default;
};

struct SpatialLoop {
  int dimension = 0;
  int64_t factor = 1;
  SpatialAxis axis = SpatialAxis::kX;
  bool operator==(const SpatialLoop&) const = default;
};

inline bool is_temporal(const TemporalLoop&) { return true; }
inline bool is_temporal(const SpatialLoop&) { return false; }
inline bool is_along_y(const TemporalLoop&) { return false; }
inline bool is_along_y(const SpatialLoop& loop) { return loop.axis == SpatialAxis::kY; }

struct MappingLevel {
  std::string name;                    // "dram"
  std::vector<TemporalLoop> temporal;  // outermost first
  std::vector<SpatialLoop> spatial;    // inside the temporal loops; outermost first
  uint32_t keeps = ~0u;                // bit per data space: set when this level stores it
  bool keeps_space(int data_space) const { return (keeps >> data_space & 1u) != 0; }
  bool operator==(const MappingLevel&) const = default;
};

struct Mapping {
  std::vector<MappingLevel> levels;  // outermost first

  int level_count() const { return int(levels.size()); }
  bool operator==(const Mapping&) const = default;
};

// Calls body(level, loop) for every loop of the levels above `below` from the innermost to the outermost: a
// SpatialLoop or a TemporalLoop of levels[level].
template <typename Body>
void for_each_loop_inside_out(const Mapping& mapping, int below, Body&& body) {
  for (int l = below - 1; l >= 0; --l) {
    const MappingLevel& level = mapping.levels[size_t(l)];
    for (auto loop = level.spatial.rbegin(); loop != level.spatial.rend(); ++loop) body(l, *loop);
    for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) body(l, *loop);
  }
}

// The extents of the largest tile of every level, cut off at the dimensions' sizes:
// out[level * dimension_count + dimension]. `out` holds (level_count + 1) * dimension_count numbers; the last
// row, one step of the innermost loops, is all ones.
void tile_extents(const Workload& workload, const Mapping& mapping, std::span<int64_t> out);
std::vector<int64_t> tile_extents(const Workload& workload, const Mapping& mapping);

// Iterations of the loops of `level` along one dimension, temporal and spatial ones multiplied.
int64_t level_factor(const MappingLevel& level, int dimension);
// Instances of the next level that one instance of `level` feeds, along one axis.
int64_t spatial_fanout(const MappingLevel& level, SpatialAxis axis);

// Calls body(begins, extents) for every tile of `level` in the order of execution, spatial loops innermost
// and one after the other; tiles that lie wholly beyond a dimension's end are left out. Level 0 has one tile,
// the whole iteration space; level_count() gives its single points. Each call sees the same two buffers.
void for_each_tile(
    const Workload& workload, const Mapping& mapping, int level,
    const std::function<void(std::span<const int64_t> begins, std::span<const int64_t> extents)>& body);

// The YAML form, with the names of the workload's dimensions and data spaces:
//   - level: dram
//     temporal: M=4 P=2
//     spatial: x:C=16 y:M=16
//     keeps: input output
// Empty loops are left out, and so is `keeps` when everything is kept. parse(print(m)) == m for level names
// of letters, digits and underscores (bits of `keeps` beyond the workload's data spaces read back as set).
std::string print_mapping(const Workload& workload, const Mapping& mapping);
// Errors (invalid input): everything wrong in the text, with its line: unknown names, factors below 1.
Mapping parse_mapping(const std::string& text, const std::string& source_name, const Workload& workload);

}  // namespace tilewright
