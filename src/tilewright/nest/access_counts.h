// Access counts: how many words a mapping moves between the memories that keep a data space.
//
// The model, which tests/support/nest/count_walker_testing.h executes literally and the closed forms here
// equal exactly:
// - Time is the temporal loops of all levels, run in order; space is the spatial loops of all levels. One
//   step is one index of every temporal loop; all instances step together (lockstep). Steps and instances
//   whose indices lie beyond a dimension's end do no work.
// - Between a keeper of a data space (parent) and the next inner keeper (child; or the arithmetic) the
//   child's tile changes when a temporal loop of a level outside the child's tile advances. An instance then
//   holds exactly its new tile: what it held before and still needs stays, the rest is fetched ("previous
//   tile" reuse; nothing older is remembered). Several loops may slide a window at once; every overlap
//   counts.
// - An instance whose tile is empty along a dimension that the data space depends on holds nothing. One that
//   is idle only because another dimension has run out keeps what it holds and is sent nothing.
// - The arithmetic holds nothing: every operation reads its operands and updates its output.
// - multicast: in one step, a word that several children of one parent instance fetch is read once. Between
//   keepers with levels in between, children share that differ only in the spatial loops of levels whose
//   networks multicast. reduction likewise.
// - Outputs: a word leaving a child (replaced, or at the end) is drained, an update of the parent; with
//   reduction the words that several children of one parent instance drain in one step for one element are
//   one update. A fetched output word costs a parent read and a child fill, but the first of each element
//   costs nothing: each child instance starts it from zero (one fill less per element that it ever holds),
//   and the parent has none of it yet (one read less per element and parent instance). Updates of the
//   arithmetic into the innermost keeper count one each (after reduction); reads of the accumulator are
//   updates less first visits, and nothing is sent to the arithmetic.
// - Padding counts as data: footprints include it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/nest/mapping.h"

namespace tilewright {

// Which network each level has to the next one (the arithmetic, for the innermost).
struct CountingNetwork {
  bool multicast = true;
  bool reduction = true;
  bool operator==(const CountingNetwork&) const = default;
};

// Accounting rules that differ from tool to tool.
enum class Accounting : uint8_t {
  kExact,  // the model above
  // Timeloop: of the loops outside a tile only the innermost one that moves it may keep an overlap
  // (those outside it refetch the tile); children share a multicast or a reduction only when they move the
  // same words, and only where each level between has handed them the same (a halo that the loops of two
  // levels lead to is not shared); operand tiles are boxes, with the words between their elements.
  kTimeloop,
};

// Words between a parent and a child that keep `space`, all instances together.
struct SpaceTraffic {
  int space = 0;
  int parent = 0;     // level
  int child = 0;      // level; level_count() is the arithmetic
  int64_t reads = 0;  // read from parents
  int64_t fills = 0;  // arriving at children (operands of the arithmetic too)
  // Arriving at rows: in one step a word counts once for all children of a parent that differ only in x
  // indices. Outputs: less the elements that each row ever holds.
  int64_t row_fills = 0;
  int64_t updates = 0;     // outputs: written into parents from below
  int64_t drains = 0;      // outputs: leaving children
  int64_t row_drains = 0;  // leaving rows: once per word, row and step
  bool operator==(const SpaceTraffic&) const = default;
};

struct AccessCounts {
  std::vector<SpaceTraffic> traffic;  // by space, then from the outermost parent inwards
  int64_t operations = 0;             // of the workload
  int64_t steps = 0;                  // lockstep steps in which any instance works: compute cycles
  // Instances of each level (index level_count(): of the arithmetic) that ever work.
  std::vector<int64_t> used_instances;
  // Words of the largest tile of each space in one instance: tile_words[level * data_space_count + space]; 0
  // where the level does not keep it. The elements touched; in Timeloop's accounting their bounding box.
  std::vector<int64_t> tile_words;
  bool operator==(const AccessCounts&) const = default;
};

// Words that a tile takes in a memory.
int64_t held_words(const DataSpace& space, std::span<const int64_t> extents, Accounting accounting);

// The counts of a valid mapping (nest/validity.h) in closed form: cost grows with the number of loops, not
// with the iterations. `networks` has one entry per level. Exact for every workload of `nest`, loop order,
// factor that does not divide, spatial split and bypass. Errors (invalid input): a count beyond 2^63 - 1.
AccessCounts count_accesses(const Workload& workload, const Mapping& mapping,
                            std::span<const CountingNetwork> networks,
                            Accounting accounting = Accounting::kExact);

}  // namespace tilewright
