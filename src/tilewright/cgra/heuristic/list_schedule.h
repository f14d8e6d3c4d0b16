// List scheduling: the placement of a compiler without search, and the start of the searches.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cgra/heuristic/decoder.h"

namespace tilewright::cgra {

// Longest tail first; each node on the tile where it starts earliest, among equals the one nearest to its
// operands and consumers, then the lowest. A dead end returns nothing. The genes decode to the same
// placement.
struct ListSchedule {
  std::vector<Place> places;
  PlacementGenes genes;
};
std::optional<ListSchedule> list_schedule(const PlacementDecoder& decoder);

}  // namespace tilewright::cgra
