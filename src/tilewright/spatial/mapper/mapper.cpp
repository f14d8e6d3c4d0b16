// Branch and bound (search/branch_and_bound.h) over the tree of spatial/mapper/mapper_tree.h.
#include "tilewright/spatial/mapper/mapper.h"

#include <algorithm>

#include "tilewright/search/annealing.h"
#include "tilewright/search/branch_and_bound.h"
#include "tilewright/spatial/lattice/lattice_solver.h"
#include "tilewright/spatial/mapper/mapper_infeasible.h"
#include "tilewright/spatial/mapper/mapper_sharing.h"
#include "tilewright/spatial/mapper/mapper_tree.h"
#include "tilewright/spatial/mapper/mapper_values.h"
#include "tilewright/spatial/mapper/mapspace_sampling.h"

namespace tilewright {
namespace {

// The tree with values of one objective.
class MapProblem : public MapTreeProblem<MapProblem> {
 public:
  using Value = MapValue;

  MapProblem(const MapTree& tree, const MapperOptions& options, const EnergyScale& scale)
      : MapTreeProblem(tree), options_(options), scale_(scale) {}

  template <typename Sink>
  void leaves(const MapNode& node, Sink& sink) const {
    tree_.leaves(node, [&](MapLeaf&& leaf) {
      options_.deadline->check();
      if (options_.max_cycles && leaf.cycles > *options_.max_cycles) return;
      sink.leaf(map_value(options_.objective, scale_.key(leaf.energy), leaf.cycles),
                [&] { return std::move(leaf.mapping); });
    });
  }

  template <typename Sink>
  void branch(MapNode&& node, Sink& sink) const {
    options_.deadline->check();
    // In the middle of a stage nothing new is known; the bound of the parent stands.
    if (node.dimension > 0) {
      sink.branch(map_value(options_.objective, 0, 0), [&] { return std::move(node); });
      return;
    }
    const std::optional<CostBound> bound = tree_.bound(node);
    if (!bound || (options_.max_cycles && bound->cycles > *options_.max_cycles)) return;
    sink.branch(map_value(options_.objective, scale_.bound_key(bound->energy), bound->cycles),
                [&] { return std::move(node); });
  }

 private:
  const MapperOptions& options_;
  const EnergyScale& scale_;
};

// Large mapspaces begin with a short annealing, whose result cuts most of the tree's first dives. Its length
// is a number of evaluations, so that it is the same at any speed.
constexpr double kAnnealFrom = 1e6;
constexpr int64_t kAnnealEvaluations = 4000, kFastAnnealEvaluations = 50'000;

void take_mapping(const Mapspace& mapspace, const MapperOptions& options, Mapping mapping,
                  MapResult& result) {
  result.mapping = std::move(mapping);
  result.cost = evaluate_mapping(mapspace.workload, mapspace.hardware, result.mapping, options.rules);
  result.value = objective_value(options.objective, result.cost);
}

// Its mapping is that of `result` for the case that there is no time for more.
std::optional<Scored<SlotMapping, MapValue>> first_incumbent(const Mapspace& mapspace, double size,
                                                             const MapperOptions& options,
                                                             MapResult& result) {
  const bool annealed = size >= kAnnealFrom && !options.check_bounds;
  if (!annealed && options.start == nullptr) return {};
  options.deadline->check();
  const MapspaceSampling space(mapspace, options, options.deadline);
  std::optional<Scored<SlotMapping, MapValue>> start = start_of(space, options);
  if (!annealed) return start;
  AnnealingOptions<SlotMapping, MapValue> annealing;
  annealing.threads = options.threads;
  annealing.limits.evaluations = space.fast() ? kFastAnnealEvaluations : kAnnealEvaluations;
  annealing.limits.deadline = options.deadline;
  if (options.deadline->limited()) annealing.limits.seconds = std::max(1e-6, options.deadline->left() / 4);
  annealing.relative = true;
  annealing.start = std::move(start);
  const SamplingResultOf<MapspaceSampling> found = anneal(space, annealing);
  if (!found.best) return {};
  take_mapping(mapspace, options, space.choices().build(*found.best), result);
  return Scored<SlotMapping, MapValue>{*found.best, *found.end.value};
}

// A mapping for the case that the time is over before the search has any: the best of a few random ones with
// perfect factors, on a twentieth of the time.
std::optional<Mapping> any_mapping(const Mapspace& mapspace, const MapperOptions& options) {
  std::optional<Mapping> mapping;
  finishes(*options.deadline, [&] {
    options.deadline->check();
    Mapspace perfect = mapspace;
    perfect.imperfect = false;
    Diagnostics problems;
    perfect.verify(problems);
    if (!problems.ok()) return;  // a fixed factor does not divide
    const MapspaceSampling space(perfect, options, options.deadline);
    AnnealingOptions<SlotMapping, MapValue> annealing;
    annealing.lanes = 1;
    annealing.limits.evaluations = kAnnealEvaluations / 10;
    annealing.limits.deadline = options.deadline;
    annealing.limits.seconds = std::max(1e-6, options.deadline->left() / 20);
    annealing.relative = true;
    const SamplingResultOf<MapspaceSampling> found = anneal(space, annealing);
    if (found.best) mapping = space.choices().build(*found.best);
  });
  return mapping;
}

void search_tree(const Mapspace& mapspace, const MapperOptions& options,
                 const std::function<void(const MapProgress&)>& progress, MapResult& result) {
  options.deadline->check();
  result.mapspace_size = mapspace.size();
  BranchAndBoundOptions<SlotMapping, MapValue> search;
  search.start = first_incumbent(mapspace, result.mapspace_size, options, result);
  options.deadline->check();
  const MapTree tree(mapspace, options.rules, options.deadline);
  const EnergyScale scale(mapspace);
  const MapProblem problem(tree, options, scale);
  const double prepared = options.deadline->seconds();
  const auto point_of = [&](const SearchPoint<MapValue>& point) {
    MapProgress out{prepared + point.seconds, 0, 0};
    if (point.value) out.best = objective_of(options.objective, *point.value, scale);
    if (point.bound) out.bound = objective_of(options.objective, *point.bound, scale);
    return out;
  };
  search.threads = options.threads;
  search.checked = options.check_bounds;
  search.limits.deadline = options.deadline;
  if (progress) {
    search.watcher = [&](const SearchPoint<MapValue>& point, const SlotMapping*) {
      progress(point_of(point));
      return true;
    };
  }
  const SearchResult<SlotMapping, MapValue> found = branch_and_bound(problem, search);
  result.nodes = found.end.counts.nodes;
  result.pruned = found.end.counts.pruned;
  result.evaluated = tree.evaluations();
  for (const SearchPoint<MapValue>& point : found.curve) {
    const MapProgress next = point_of(point);
    if (point.value && (result.curve.empty() || next.best != result.curve.back().best)) {
      result.seconds_to_value = next.seconds;
    }
    result.curve.push_back(next);
  }
  if (found.status == SearchStatus::kInfeasible) {
    result.status = MapStatus::kInfeasible;
    result.infeasible_reason = "no combination of factors fits; there was no time to find out why";
    finishes(*options.deadline, [&] { result.infeasible_reason = explain_infeasible(mapspace, options); });
    return;
  }
  result.status = found.status == SearchStatus::kOptimal ? MapStatus::kOptimal : MapStatus::kStopped;
  if (found.end.bound) result.lower_bound = objective_of(options.objective, *found.end.bound, scale);
  if (!found.best) return;
  take_mapping(mapspace, options, tree.choices().build(*found.best), result);
  result.lower_bound =
      result.status == MapStatus::kOptimal ? result.value : std::min(result.value, result.lower_bound);
}

// A search that was stopped before it found anything better ends where it began.
void return_to_start(const Mapspace& mapspace, const MapperOptions& options, MapResult& result) {
  if (options.start == nullptr || result.status != MapStatus::kStopped) return;
  if (!contains(mapspace, *options.start, options.rules.accounting)) return;
  const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, *options.start, options.rules);
  if (options.max_cycles && cost.cycles > *options.max_cycles) return;
  const double value = objective_value(options.objective, cost);
  if (result.found() && result.value <= value) return;
  result.mapping = *options.start;
  result.cost = cost;
  result.value = value;
  result.lower_bound = std::min(result.lower_bound, value);
}

}  // namespace

MapResult search_mapping(const Mapspace& mapspace, const MapperOptions& given,
                         const std::function<void(const MapProgress&)>& progress) {
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  diagnostics.raise_if_any();
  const Deadline deadline(limit_seconds(given), given.deadline);
  MapperOptions options = given;
  options.time_limit_s = 0;
  options.deadline = &deadline;
  std::optional<Mapping> fallback;
  if (deadline.limited() && options.start == nullptr) fallback = any_mapping(mapspace, options);
  if (options.use_lattice && !options.check_bounds) {
    if (std::optional<MapResult> solved = solve_on_lattice(mapspace, options, progress)) {
      // As the mappings of a mapspace are: bits beyond the data spaces set.
      const uint32_t spaces = (1u << mapspace.workload.data_space_count()) - 1;
      for (MappingLevel& level : solved->mapping.levels) level.keeps |= ~spaces;
      return_to_start(mapspace, options, *solved);
      return *std::move(solved);
    }
  }
  MapResult result;
  result.status = MapStatus::kStopped;
  finishes(deadline, [&] { search_tree(mapspace, options, progress, result); });
  if (result.status == MapStatus::kStopped && !result.found() && fallback) {
    take_mapping(mapspace, options, *std::move(fallback), result);
    result.lower_bound = std::min(result.lower_bound, result.value);
  }
  return_to_start(mapspace, options, result);
  result.seconds = deadline.seconds();
  return result;
}

}  // namespace tilewright
