// A dataflow with everything but its variables known: what the search and the evaluation of one layer on one
// machine work on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/spatial/taxonomy/dataflow_search.h"

namespace tilewright::study {

struct BoundDataflow {
  ExpressionGraph graph;  // its symbols are the variables
  std::vector<double> upper;
  std::vector<Comparison> constraints;  // in the dataflow's order
  AccessNodes reported{}, objective{};
  int active_pes = 0;
};

// Values of all symbols but the variables. Errors (invalid input): an upper bound that is not a number below
// 2^40, a layer that does not verify().
BoundDataflow bind_dataflow(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                            const Storage& storage, const SearchOptions& options);

// The values of the symbols in front of the variables.
std::vector<std::optional<double>> symbol_values(const Dataflow& dataflow, const LayerShape& layer,
                                                 const StudyMachine& machine, const Storage& storage);

// The search for the lowest energy under all constraints, among mappings on more than `idle_below` PEs; and
// for the most active PEs among mappings of at most that energy.
BoxProblem energy_problem(const BoundDataflow& bound, const AccessEnergy& energy, double idle_below = 0);
BoxProblem active_pes_problem(const BoundDataflow& bound, const AccessEnergy& energy,
                              std::optional<double> highest_energy);

// Why no mapping exists; see DataflowResult::reasons.
std::vector<std::string> infeasibility(const Dataflow& dataflow, const BoundDataflow& bound,
                                       const BoxSearchOptions& limits);

}  // namespace tilewright::study
