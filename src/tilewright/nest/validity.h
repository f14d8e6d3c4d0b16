// Which mappings are valid on a machine: the rules between a workload, a hierarchy of memories and a mapping.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/nest/mapping.h"

namespace tilewright {

inline constexpr int64_t kUnlimited = -1;

// One level of a memory hierarchy, as far as it limits mappings.
struct HierarchyLevel {
  std::string name;
  // Bits that one instance holds, shared by all data spaces it keeps; kUnlimited for main memory.
  int64_t capacity_bits = kUnlimited;
  // Bits reserved for each data space; kUnlimited or absent: only the shared capacity counts.
  std::vector<int64_t> space_capacity_bits;
  // Whether reserved bits lie apart from the shared capacity: a reserved data space then takes nothing of it.
  bool reserved_apart = false;
  // Copies of each tile that have to fit at the same time: 2 when loads are double-buffered.
  int64_t copies = 1;
  // Instances of the next level below one instance of this one.
  int64_t fanout_x = 1, fanout_y = 1;
  // Data spaces that may be kept here, a bit for each.
  uint32_t may_keep = ~0u;
  // Whether a tile is stored with the gaps between its elements (bounding box), as scratchpads filled by
  // block transfers do, or only with the elements it touches.
  bool stores_gaps = true;
};

struct Hierarchy {
  std::vector<HierarchyLevel> levels;  // outermost first
};

// Bits that the largest tile of data space `space` takes in one instance of `level`, all copies together;
// `extents` are that level's tile extents.
int64_t tile_bits(const Workload& workload, const HierarchyLevel& level, int space,
                  std::span<const int64_t> extents);

// Adds a diagnostic for every rule that is broken: the same levels in the same order; dimensions that exist
// and factors of at least 1; the loops of a dimension cover its size, without a loop step that has nothing
// left to do; spatial loops fit the fan-out; the outermost level keeps everything, no level keeps what it may
// not; tiles fit. `where` begins each message's location.
void check_mapping(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping,
                   const std::string& where, Diagnostics& diagnostics);

// The same verdict without messages and, but for one buffer, without allocation.
bool is_valid(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping);

}  // namespace tilewright
