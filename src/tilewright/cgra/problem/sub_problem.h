// The part of a mapping problem that belongs to some of its nodes.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

// Node i of the result is nodes[i]; operands from outside and their edges are left out, values of earlier
// iterations too unless `loops`; variables, arrays, fixed tiles and times stay. Placement tier. Its mappings
// are those of the whole, restricted, if `nodes` holds the producers of all its nodes or their starter rule
// is met without them.
MappingProblem sub_problem(const MappingProblem& problem, const std::vector<int>& nodes, bool loops);

}  // namespace tilewright::cgra
