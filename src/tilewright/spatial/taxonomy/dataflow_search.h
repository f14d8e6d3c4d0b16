// The best mapping of one layer onto one machine within one dataflow, with its proof.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tilewright/spatial/formula/box_search.h"
#include "tilewright/spatial/mapspace/map_result.h"
#include "tilewright/spatial/taxonomy/dataflow.h"
#include "tilewright/spatial/taxonomy/equal_area.h"
#include "tilewright/spatial/taxonomy/layer_shape.h"

namespace tilewright::study {

// Access counts of a layer, per level and data type.
using LayerAccesses = std::array<std::array<double, kDataTypes>, kLevels>;

struct SearchOptions {
  // kLatency and kEdp: a layer takes MACs / active PEs cycles; kEdp counts the energy of the MACs.
  MapObjective objective = MapObjective::kEnergy;
  // Searches with the counts that are reported instead of those the file's `objective` section charges.
  bool reported_objective = false;
  BoxSearchOptions limits;
};

// The work of a search: what was decided without being visited.
struct SearchProof {
  double space_points = 0;  // points of the variables' ranges, before any pruning
  double value = 0;         // what the search minimised; energies in units of one MAC
  double bound = 0;         // nothing lies below; equal to `value` when proven
  int64_t nodes = 0;        // boxes looked at, ties included
  int64_t pruned = 0;       // boxes discarded whole
};

struct DataflowResult {
  BoxSearchStatus status = BoxSearchStatus::kInfeasible;
  std::vector<int64_t> variables;  // in the dataflow's order; of the best mapping
  LayerAccesses counts{};          // as reported
  double active_pes = 0;
  SearchProof proof;
  // When infeasible: the constraints that cannot hold (together, when there are several), each with the least
  // it needs and the most available.
  std::vector<std::string> reasons;
};

// Minimises the energy of the accesses; among mappings of equal energy (within kRelativeTie) one with the
// most active PEs. Or, by `options.objective`, the cycles, then the energy; or energy x cycles. Errors:
// invalid input when an expression has no finite value or a count is negative at the best mapping, or a
// variable's upper bound is above 2^40.
DataflowResult best_mapping(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                            const Storage& storage, const SearchOptions& options = {});

// The cost of given variables, feasible or not; `broken` names every constraint that does not hold.
struct MappingEvaluation {
  LayerAccesses counts{};
  double objective = 0;  // energy that the search would charge
  double active_pes = 0;
  std::vector<std::string> broken;
};
MappingEvaluation evaluate_mapping(const Dataflow& dataflow, const LayerShape& layer,
                                   const StudyMachine& machine, const Storage& storage,
                                   const std::vector<int64_t>& variables, const SearchOptions& options = {});

// Energy without the MACs, in units of one MAC.
double access_energy(const LayerAccesses& counts, const AccessEnergy& energy);

}  // namespace tilewright::study
