// Two searches: the lowest energy, then the most active PEs among mappings of that energy.
#include "tilewright/spatial/study/dataflow_search.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/spatial/study/bound_dataflow.h"

namespace tilewright::study {
namespace {

AccessCounts counts_at(const AccessNodes& nodes, std::span<const double> values) {
  AccessCounts counts{};
  for (size_t level = 0; level < kLevels; ++level) {
    for (size_t type = 0; type < kDataTypes; ++type) {
      counts[level][type] = values[size_t(nodes[level][type])];
    }
  }
  return counts;
}

Evaluation evaluate_bound(const Dataflow& dataflow, const BoundDataflow& bound, const AccessEnergy& energy,
                          std::span<const int64_t> variables) {
  const std::vector<double> point(variables.begin(), variables.end());
  std::vector<double> values(bound.graph.nodes().size());
  evaluate(bound.graph, point, values);
  Evaluation result;
  result.counts = counts_at(bound.reported, values);
  result.objective = access_energy(counts_at(bound.objective, values), energy);
  result.active_pes = values[size_t(bound.active_pes)];
  for (size_t k = 0; k < bound.constraints.size(); ++k) {
    const Comparison& c = bound.constraints[k];
    const double left = values[size_t(c.left)], right = values[size_t(c.right)];
    if (holds(c.relation, left, right)) continue;
    const DataflowConstraint& constraint = dataflow.constraints[k];
    result.broken.push_back(fmt::format("{} ({}): {:.15g} {} {:.15g} does not hold", constraint.name,
                                        constraint.text, left, relation_text(c.relation), right));
  }
  for (size_t v = 0; v < bound.upper.size(); ++v) {
    if (point[v] >= 1 && point[v] <= bound.upper[v]) continue;
    result.broken.push_back(fmt::format("variable {}: {} is not in 1..{:.15g}", dataflow.variables[v].name,
                                        variables[v], bound.upper[v]));
  }
  return result;
}

void check_counts(const Dataflow& dataflow, const LayerShape& layer, const Evaluation& evaluation) {
  Diagnostics diagnostics;
  const std::string where = fmt::format("dataflow '{}', layer '{}'", dataflow.name, layer.name);
  for (size_t level = 0; level < kLevels; ++level) {
    for (size_t type = 0; type < kDataTypes; ++type) {
      const double count = evaluation.counts[level][type];
      if (std::isfinite(count) && count >= 0) continue;
      diagnostics.error(
          ErrorKind::kInvalidInput, where,
          fmt::format("accesses.{}.{}", level_name(Level(level)), data_type_name(DataType(type))),
          fmt::format("the count is {} at the best mapping", count));
    }
  }
  if (!(std::isfinite(evaluation.active_pes) && evaluation.active_pes > 0)) {
    diagnostics.error(ErrorKind::kInvalidInput, where, "active_pes",
                      fmt::format("the number is {} at the best mapping", evaluation.active_pes));
  }
  diagnostics.raise_if_any();
}

}  // namespace

double access_energy(const AccessCounts& counts, const AccessEnergy& energy) {
  const double cost[kLevels] = {energy.dram, energy.buffer, energy.array, energy.register_file};
  double sum = 0;
  for (size_t level = 0; level < kLevels; ++level) {
    for (const double count : counts[level]) sum += count * cost[level];
  }
  return sum;
}

DataflowResult best_mapping(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                            const Storage& storage, const SearchOptions& options) {
  const BoundDataflow bound = bind_dataflow(dataflow, layer, machine, storage, options);
  DataflowResult result;
  SearchProof& proof = result.proof;
  proof.space_points = 1;
  for (const double upper : bound.upper) proof.space_points *= std::max(upper, 0.0);
  if (proof.space_points == 0) {
    result.reasons = infeasibility(dataflow, bound, options.limits);
    return result;
  }
  const BoxSearchResult lowest = minimise(energy_problem(bound, machine.energy), options.limits);
  proof.nodes = lowest.nodes;
  proof.pruned = lowest.pruned;
  proof.value = lowest.value;
  proof.bound = lowest.bound;
  result.status = lowest.status;
  if (!lowest.has_point) {
    if (lowest.status == SearchStatus::kInfeasible) {
      result.reasons = infeasibility(dataflow, bound, options.limits);
    }
    return result;
  }
  result.variables = lowest.point;
  if (lowest.status == SearchStatus::kOptimal) {
    const BoxSearchResult widest =
        minimise(active_pes_problem(bound, machine.energy, lowest.value), options.limits);
    proof.nodes += widest.nodes;
    proof.pruned += widest.pruned;
    if (widest.has_point) result.variables = widest.point;
    if (widest.status == SearchStatus::kStopped) result.status = SearchStatus::kStopped;
  }
  const Evaluation best = evaluate_bound(dataflow, bound, machine.energy, result.variables);
  check_counts(dataflow, layer, best);
  result.counts = best.counts;
  result.active_pes = best.active_pes;
  return result;
}

Evaluation evaluate_mapping(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                            const Storage& storage, const std::vector<int64_t>& variables,
                            const SearchOptions& options) {
  const BoundDataflow bound = bind_dataflow(dataflow, layer, machine, storage, options);
  if (variables.size() != bound.upper.size()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("dataflow '{}' has {} variables, not {}", dataflow.name,
                                                      bound.upper.size(), variables.size()));
  }
  return evaluate_bound(dataflow, bound, machine.energy, variables);
}

}  // namespace tilewright::study
