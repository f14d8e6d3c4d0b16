// The mapper's tree (mapper_tree.h) as a problem for search/pareto_search.h, with the values energy key,
// cycles and words of the level. A node in the middle of a stage has no bound and is never cut. The full
// model evaluates the points of the front once more.
#include "tilewright/spatial/mapper/mapper_pareto.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/search/pareto_search.h"
#include "tilewright/spatial/mapper/mapper_tree.h"
#include "tilewright/spatial/mapper/mapper_values.h"

namespace tilewright {
namespace {

class ParetoProblem : public MapTreeProblem<ParetoProblem> {
 public:
  using Value = std::array<double, 3>;  // energy key, cycles, words

  ParetoProblem(const MapTree& tree, int level, std::optional<int64_t> max_cycles, const EnergyScale& scale)
      : MapTreeProblem(tree), level_(level), max_cycles_(max_cycles), scale_(scale) {}

  template <typename Sink>
  void leaves(const MapNode& node, Sink& sink) const {
    const double words = double(tree_.least_words(node, level_));
    tree_.leaves(node, [&](MapLeaf&& leaf) {
      if (max_cycles_ && leaf.cycles > *max_cycles_) return;
      sink.leaf(Value{scale_.key(leaf.energy), double(leaf.cycles), words},
                [&] { return std::move(leaf.mapping); });
    });
  }

  template <typename Sink>
  void branch(MapNode&& node, Sink& sink) const {
    Value value{};
    if (node.dimension == 0) {
      const std::optional<CostBound> bound = tree_.bound(node);
      if (!bound || (max_cycles_ && bound->cycles > *max_cycles_)) return;
      value = {scale_.bound_key(bound->energy), double(bound->cycles),
               double(tree_.least_words(node, level_))};
    }
    sink.branch(value, [&] { return std::move(node); });
  }

 private:
  int level_;
  std::optional<int64_t> max_cycles_;
  const EnergyScale& scale_;
};

}  // namespace

MapFront map_pareto(const Mapspace& mapspace, int buffer_level, const MapperOptions& options) {
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  diagnostics.raise_if_any();
  if (buffer_level < 0 || buffer_level >= int(mapspace.hardware.levels.size())) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("there is no level {} to measure", buffer_level));
  }
  MapFront front;
  front.mapspace_size = mapspace.size();
  const MapTree tree(mapspace, options.rules);
  const EnergyScale scale(mapspace);
  const ParetoProblem problem(tree, buffer_level, options.max_cycles, scale);
  ParetoOptions<ParetoProblem> search;
  search.threads = options.threads;
  search.limits.seconds = limit_seconds(options);
  search.limits.deadline = options.deadline;
  const auto found = pareto_search(problem, search);
  front.nodes = found.counts.nodes;
  front.pruned = found.counts.pruned;
  front.evaluated = tree.evaluations();
  front.seconds = found.seconds;
  if (found.status == SearchStatus::kInfeasible) return front;
  front.status = found.status == SearchStatus::kOptimal ? MapStatus::kOptimal : MapStatus::kStopped;
  for (const auto& member : found.front.members()) {
    MapPoint point{tree.choices().build(member.payload)};
    const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, point.mapping, options.rules);
    point.energy = cost.energy;
    point.cycles = cost.cycles;
    point.buffer_words = int64_t(member.point[2]);
    front.points.push_back(std::move(point));
  }
  return front;
}

}  // namespace tilewright
