// The checker: every rule that a mapping breaks. It checks all mappers and shares no code with any of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

enum class Rule : uint8_t {
  kShape,          // a node without place, a tile outside the fabric, a negative time, a wrong II
  kSlot,           // two operations in one (tile, slot)
  kTiming,         // a value arrives after its use, or waits longer than allowed
  kVariable,       // a variable's nodes on different tiles
  kStarters,       // starters on one tile
  kSiblings,       // siblings on one tile
  kFixed,          // a node is not where it was fixed
  kMemoryTile,     // a load or store where the fabric has none
  kInstructions,   // more operations on a tile than its instruction RAM holds
  kTileMemory,     // more entries of variables on a tile than its tile memories hold
  kRoute,          // a route that does not lead from producer to consumer over existing links
  kLink,           // two values on a link in one slot
  kPassThrough,    // more passing values on a tile in one slot than the fabric allows
  kDelayRegister,  // more waiting values on a tile in one slot than it has registers
  kHops,           // more links within a clock than the fabric allows
  kStoreOrder,     // stores to one element out of program order: store_order.h
};

// "slot", "timing", ...
const char* rule_name(Rule rule);

struct Violation {
  Rule rule = Rule::kShape;
  std::vector<int> nodes;  // concerned, ascending
  std::string text;        // with names, tiles, clocks
};

// In the routed tier: a link carries one value per slot of departure; a value that leaves a tile by a link
// and was not computed there passes; a value that stays on a tile into the next clock waits. The same value
// (producer and clock) counts once wherever several consumers share its route. Clocks that differ by a
// multiple of II are different threads' values and count separately. All violations, ordered by rule, then
// nodes; none: the mapping is valid. Routes are checked where problem.rules.routed; without it they are
// ignored.
std::vector<Violation> check_mapping(const MappingProblem& problem, const GraphMapping& mapping);

}  // namespace tilewright::cgra
