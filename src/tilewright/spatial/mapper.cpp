// Branch and bound (search/branch_and_bound.h) over the tree of spatial/mapper_tree.h.
#include "tilewright/spatial/mapper.h"

#include <algorithm>
#include <chrono>

#include "tilewright/search/annealing.h"
#include "tilewright/search/branch_and_bound.h"
#include "tilewright/spatial/lattice_solver.h"
#include "tilewright/spatial/mapper_infeasible.h"
#include "tilewright/spatial/mapper_sharing.h"
#include "tilewright/spatial/mapper_tree.h"
#include "tilewright/spatial/mapper_values.h"
#include "tilewright/spatial/mapspace_sampling.h"

namespace tilewright {
namespace {

// The tree with values of one objective.
class MapProblem {
 public:
  using Node = MapNode;
  using Value = MapValue;
  using Solution = SlotMapping;

  MapProblem(const MapTree& tree, const MapperOptions& options, const EnergyScale& scale)
      : tree_(tree), options_(options), scale_(scale) {}

  template <typename Sink>
  void roots(Sink& sink) const {
    tree_.roots([&](MapNode&& node) { branch(std::move(node), sink); });
  }

  template <typename Sink>
  void expand(const MapNode& node, Sink& sink) const {
    if (!tree_.complete(node)) {
      tree_.expand(node, [&](MapNode&& child) { branch(std::move(child), sink); });
      return;
    }
    tree_.leaves(node, [&](MapLeaf&& leaf) {
      if (options_.max_cycles && leaf.cycles > *options_.max_cycles) return;
      sink.leaf(map_value(options_.objective, scale_.key(leaf.energy), leaf.cycles),
                [&] { return std::move(leaf.mapping); });
    });
  }

 private:
  template <typename Sink>
  void branch(MapNode&& node, Sink& sink) const {
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

  const MapTree& tree_;
  const MapperOptions& options_;
  const EnergyScale& scale_;
};

// Large mapspaces begin with a short annealing, whose result cuts most of the tree's first dives. Its length
// is a number of evaluations, so that it is the same at any speed.
constexpr double kAnnealFrom = 1e6;
constexpr int64_t kAnnealEvaluations = 4000, kFastAnnealEvaluations = 50'000;

std::optional<Scored<SlotMapping, MapValue>> first_incumbent(const Mapspace& mapspace, double size,
                                                             const MapperOptions& options) {
  const bool annealed = size >= kAnnealFrom && !options.check_bounds;
  if (!annealed && options.start == nullptr) return {};
  const MapspaceSampling space(mapspace, options);
  std::optional<Scored<SlotMapping, MapValue>> start = start_of(space, options);
  if (!annealed) return start;
  AnnealingOptions<SlotMapping, MapValue> annealing;
  annealing.threads = options.threads;
  annealing.limits.evaluations = space.fast() ? kFastAnnealEvaluations : kAnnealEvaluations;
  if (options.time_limit_s > 0) annealing.limits.seconds = options.time_limit_s / 4;
  annealing.relative = true;
  annealing.start = std::move(start);
  const SamplingResultOf<MapspaceSampling> found = anneal(space, annealing);
  if (!found.best) return {};
  return Scored<SlotMapping, MapValue>{*found.best, *found.end.value};
}

}  // namespace

MapResult search_mapping(const Mapspace& mapspace, const MapperOptions& options,
                         const std::function<void(const MapProgress&)>& progress) {
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  diagnostics.raise_if_any();
  if (options.use_lattice && !options.check_bounds) {
    if (std::optional<MapResult> solved = solve_on_lattice(mapspace, options, progress)) {
      // As the mappings of a mapspace are: bits beyond the data spaces set.
      const uint32_t spaces = (1u << mapspace.workload.data_space_count()) - 1;
      for (MappingLevel& level : solved->mapping.levels) level.keeps |= ~spaces;
      return *std::move(solved);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  MapResult result;
  result.mapspace_size = mapspace.size();
  BranchAndBoundOptions<SlotMapping, MapValue> search;
  search.start = first_incumbent(mapspace, result.mapspace_size, options);
  const MapTree tree(mapspace, options.rules);
  const EnergyScale scale(mapspace);
  const MapProblem problem(tree, options, scale);
  const double prepared = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto point_of = [&](const SearchPoint<MapValue>& point) {
    MapProgress out{prepared + point.seconds, 0, 0};
    if (point.value) out.best = objective_of(options.objective, *point.value, scale);
    if (point.bound) out.bound = objective_of(options.objective, *point.bound, scale);
    return out;
  };
  search.threads = options.threads;
  search.checked = options.check_bounds;
  if (options.time_limit_s > 0) search.limits.seconds = std::max(1e-3, options.time_limit_s - prepared);
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
  result.seconds = prepared + found.end.seconds;
  for (const SearchPoint<MapValue>& point : found.curve) {
    const MapProgress next = point_of(point);
    if (point.value && (result.curve.empty() || next.best != result.curve.back().best)) {
      result.seconds_to_value = next.seconds;
    }
    result.curve.push_back(next);
  }
  if (found.status == SearchStatus::kInfeasible) {
    result.status = MapStatus::kInfeasible;
    result.infeasible_reason = explain_infeasible(mapspace, options);
    return result;
  }
  result.status = found.status == SearchStatus::kOptimal ? MapStatus::kOptimal : MapStatus::kStopped;
  if (found.end.bound) result.lower_bound = objective_of(options.objective, *found.end.bound, scale);
  if (!found.best) return result;
  result.mapping = tree.choices().build(*found.best);
  result.cost = evaluate_mapping(mapspace.workload, mapspace.hardware, result.mapping, options.rules);
  result.value = objective_of(options.objective, result.cost);
  result.lower_bound =
      result.status == MapStatus::kOptimal ? result.value : std::min(result.value, result.lower_bound);
  return result;
}

}  // namespace tilewright
