// Two searches give the least energy, then the most active PEs among mappings of that energy. Other
// objectives walk the front of both: the least energy on more PEs than the point before.
#include "tilewright/spatial/taxonomy/dataflow_search.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/spatial/taxonomy/bound_dataflow.h"

namespace tilewright::study {
namespace {

LayerAccesses counts_at(const AccessNodes& nodes, std::span<const double> values) {
  LayerAccesses counts{};
  for (size_t level = 0; level < kLevels; ++level) {
    for (size_t type = 0; type < kDataTypes; ++type) {
      counts[level][type] = values[size_t(nodes[level][type])];
    }
  }
  return counts;
}

MappingEvaluation evaluate_bound(const Dataflow& dataflow, const BoundDataflow& bound,
                                 const AccessEnergy& energy, std::span<const int64_t> variables) {
  const std::vector<double> point(variables.begin(), variables.end());
  std::vector<double> values(bound.graph.nodes().size());
  evaluate(bound.graph, point, values);
  MappingEvaluation result;
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

void check_counts(const Dataflow& dataflow, const LayerShape& layer, const MappingEvaluation& evaluation) {
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

double objective_of(const LayerShape& layer, const StudyMachine& machine, MapObjective objective,
                    double energy, double active_pes) {
  if (objective == MapObjective::kEnergy) return energy;
  const double cycles = double(layer.macs()) / active_pes;
  return objective == MapObjective::kLatency ? cycles
                                             : cycles * (energy + double(layer.macs()) * machine.energy.alu);
}

class FrontWalk {
 public:
  FrontWalk(const BoundDataflow& bound, const LayerShape& layer, const StudyMachine& machine,
            const SearchOptions& options, DataflowResult& result)
      : bound_(bound), layer_(layer), machine_(machine), options_(options), result_(result) {}

  // Leaves `result` without variables if there is no mapping.
  void run() {
    result_.status = BoxSearchStatus::kInfeasible;
    double idle_below = 0;
    if (options_.objective != MapObjective::kEnergy) {
      const BoxSearchResult widest = searched(active_pes_problem(bound_, machine_.energy, {}));
      if (!widest.has_point) {
        result_.status = widest.status;
        return;
      }
      most_ = -widest.bound;
      stopped_ = widest.status == BoxSearchStatus::kStopped;
      if (options_.objective == MapObjective::kLatency) idle_below = -widest.value * (1 - kSameNumber);
    }
    while (step(idle_below)) {
      idle_below = active_pes_ * (1 + kSameNumber);
      const bool more = options_.objective == MapObjective::kEdp && idle_below < most_ &&
                        goal(energy_, most_) < result_.proof.value;
      if (!more) break;
    }
    if (result_.variables.empty()) return;
    result_.status = stopped_ ? BoxSearchStatus::kStopped : BoxSearchStatus::kOptimal;
    result_.proof.bound = stopped_ ? goal(least_energy_, most_) : result_.proof.value;
  }

 private:
  static constexpr double kSameNumber = 1e-9;

  double goal(double energy, double active_pes) const {
    return objective_of(layer_, machine_, options_.objective, energy, active_pes);
  }

  BoxSearchResult searched(const BoxProblem& problem) {
    const BoxSearchResult found = minimise(problem, options_.limits);
    result_.proof.nodes += found.nodes;
    result_.proof.pruned += found.pruned;
    return found;
  }

  // The next point of the front; false if there is none.
  bool step(double idle_below) {
    const BoxSearchResult lowest = searched(energy_problem(bound_, machine_.energy, idle_below));
    if (!lowest.has_point) {
      if (result_.variables.empty()) result_.status = lowest.status;
      stopped_ = stopped_ || lowest.status == BoxSearchStatus::kStopped;
      return false;
    }
    std::vector<int64_t> point = lowest.point;
    stopped_ = stopped_ || lowest.status == BoxSearchStatus::kStopped;
    if (lowest.status == BoxSearchStatus::kOptimal) {
      const BoxSearchResult widest = searched(active_pes_problem(bound_, machine_.energy, lowest.value));
      if (widest.has_point) point = widest.point;
      stopped_ = stopped_ || widest.status == BoxSearchStatus::kStopped;
    }
    energy_ = lowest.value;
    active_pes_ = active_pes_at(point);
    const double value = goal(energy_, active_pes_);
    if (result_.variables.empty()) {
      least_energy_ = lowest.bound;
    } else if (value >= result_.proof.value) {
      return true;
    }
    result_.proof.value = value;
    result_.variables = std::move(point);
    return true;
  }

  double active_pes_at(const std::vector<int64_t>& variables) const {
    const std::vector<double> point(variables.begin(), variables.end());
    std::vector<double> values(bound_.graph.nodes().size());
    evaluate(bound_.graph, point, values);
    return values[size_t(bound_.active_pes)];
  }

  const BoundDataflow& bound_;
  const LayerShape& layer_;
  const StudyMachine& machine_;
  const SearchOptions& options_;
  DataflowResult& result_;
  double energy_ = 0, active_pes_ = 0;  // of the last point
  double least_energy_ = 0, most_ = 0;  // no mapping has less energy, or more active PEs
  bool stopped_ = false;
};

}  // namespace

double access_energy(const LayerAccesses& counts, const AccessEnergy& energy) {
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
  FrontWalk(bound, layer, machine, options, result).run();
  if (result.variables.empty()) {
    if (result.status == BoxSearchStatus::kInfeasible) {
      result.reasons = infeasibility(dataflow, bound, options.limits);
    }
    return result;
  }
  const MappingEvaluation best = evaluate_bound(dataflow, bound, machine.energy, result.variables);
  check_counts(dataflow, layer, best);
  result.counts = best.counts;
  result.active_pes = best.active_pes;
  return result;
}

MappingEvaluation evaluate_mapping(const Dataflow& dataflow, const LayerShape& layer,
                                   const StudyMachine& machine, const Storage& storage,
                                   const std::vector<int64_t>& variables, const SearchOptions& options) {
  const BoundDataflow bound = bind_dataflow(dataflow, layer, machine, storage, options);
  if (variables.size() != bound.upper.size()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("dataflow '{}' has {} variables, not {}", dataflow.name,
                                                      bound.upper.size(), variables.size()));
  }
  return evaluate_bound(dataflow, bound, machine.energy, variables);
}

}  // namespace tilewright::study
