// Whether a mapping exists at all, of any length, and if not, why.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/exact/constraints.h"
#include "tilewright/cgra/problem/mapper.h"
#include "tilewright/cgra/sat/solver.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

// Counting arguments for which resolution is slow: operations against slots (a flow of units to tiles), units
// against what a tile holds, nodes on different tiles against tiles, wide units against tiles, loops against
// their distances. True: no mapping exists.
bool counted_out(const PlacementConstraints& constraints, const SortedConstraints& sorted);

struct AnyMapping {
  Satisfiable exists = Satisfiable::kUnknown;
  std::optional<GraphMapping> mapping;  // where kYes: as early as its tiles and slots allow
};
// The counting arguments, then the formula of TimeBounds::any_length. Throws Expired where the time ends
// before there is a formula.
AnyMapping find_any_mapping(const PlacementConstraints& constraints, const SatLimits& limits = {});

// A smallest part of `constraints` (which admit no mapping): leaving out any node, or any single rule, would
// admit one. Deletion by halves; a question that is not answered within limits.conflicts, or by
// limits.deadline of all of them, keeps what it asked about. `names`: of the nodes.
Conflict explain_impossible(const PlacementConstraints& constraints, const std::vector<std::string>& names,
                            const SatLimits& limits);

}  // namespace tilewright::cgra
