// The interface of all mappers: one function each, one result type. flow/place/place.h has the table of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/problem/problem.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/result.h"

namespace tilewright::cgra {

// Why no mapping exists: a smallest set of nodes and rules that already contradict each other.
struct Conflict {
  std::vector<int> nodes;   // ascending
  std::vector<Rule> rules;  // ascending
  std::string text;         // the argument, with names
};

struct MappingResult {
  SearchStatus status = SearchStatus::kStopped;
  std::optional<GraphMapping> mapping;  // valid by check_mapping
  int makespan = 0;                     // of `mapping`
  int lower_bound = 0;               // no valid mapping at this II is shorter; equals makespan when optimal
  std::optional<Conflict> conflict;  // where status is kInfeasible
  Ending ending = Ending::kNone;     // what stopped the search, where time, memory or a request did
  SearchCounts counts;  // evaluations: complete placements decoded or solver calls, as the mapper says
  double seconds = 0;
  std::vector<SearchPoint<int>> curve;  // best makespan over evaluations
};

// For mappers over the decoder (heuristic/decoder.h), which leaves the limits of instructions and tile
// memories to the checker: a mapping that breaks one of them does not count.
void drop_if_invalid(const MappingProblem& problem, MappingResult& result);

struct GraphMapperOptions {
  SearchLimits limits;
  uint64_t seed = 0;
  int threads = 1;
};

// Errors (invalid input): problem.verify's, all at once.
using Mapper = std::function<MappingResult(const MappingProblem& problem, const GraphMapperOptions& options)>;

}  // namespace tilewright::cgra
