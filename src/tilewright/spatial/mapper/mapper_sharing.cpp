// A search that its time limit will stop is stopped early, and the objectives are searched in turn, each from
// the best that the others found: what is good for latency is often better in energy x delay than what a
// search for that has reached by then. Where the tree is too large for the time, local searches find better
// mappings than its dives do: half of the time is theirs. The last turn is the objective's own again.
#include "tilewright/spatial/mapper/mapper_sharing.h"

#include <algorithm>

#include "tilewright/search/annealing.h"
#include "tilewright/search/basin_hopping.h"

namespace tilewright {
namespace {

// Shares of the time: the first try, each of the other objectives, local searches for the objective.
constexpr double kFirstShare = 0.1, kOtherShare = 0.05, kLocalShare = 0.5;
constexpr double kLeastSeconds = 1e-3;

using Progress = std::function<void(const MapProgress&)>;

std::pair<double, double> values_of(MapObjective objective, const Cost& cost) {
  return {objective_value(objective, cost),
          objective == MapObjective::kEnergy ? double(cost.cycles) : cost.energy};
}

class SharedSearch {
 public:
  SharedSearch(const Mapspace& mapspace, const MapperOptions& options, const Progress& progress)
      : mapspace_(mapspace),
        options_(options),
        progress_(progress),
        deadline_(limit_seconds(options), options.deadline) {}

  MapResult run() {
    MapResult first = own(kFirstShare * deadline_.limit());
    if (first.status != MapStatus::kStopped) return first;
    offer(first.mapping, first.cost);
    for (const MapObjective other : {MapObjective::kEnergy, MapObjective::kEdp, MapObjective::kLatency}) {
      if (other == options_.objective) continue;
      MapperOptions turn = turn_of(kOtherShare * deadline_.limit());
      turn.objective = other;
      const MapResult found = search_mapping(mapspace_, turn);
      offer(found.mapping, found.cost);
    }
    if (!deadline_.over()) search_locally();
    MapResult last = own(std::max(kLeastSeconds, deadline_.left()));
    if (last.status == MapStatus::kInfeasible) return last;
    offer(last.mapping, last.cost);
    return joined(std::move(first), std::move(last));
  }

 private:
  MapperOptions turn_of(double limit_s) const {
    MapperOptions turn = options_;
    turn.time_limit_s = limit_s;
    turn.deadline = &deadline_;
    if (!best_.levels.empty()) turn.start = &best_;
    return turn;
  }

  MapResult own(double limit_s) {
    const double before = deadline_.seconds();
    Progress later;
    if (progress_) {
      later = [&](const MapProgress& at) { progress_({before + at.seconds, at.best, at.bound}); };
    }
    MapResult result = search_mapping(mapspace_, turn_of(limit_s), later);
    result.seconds_to_value += before;
    for (MapProgress& at : result.curve) at.seconds += before;
    return result;
  }

  void offer(const Mapping& mapping, const Cost& cost) {
    if (mapping.levels.empty()) return;
    if (!best_.levels.empty() &&
        values_of(options_.objective, cost) >= values_of(options_.objective, cost_)) {
      return;
    }
    best_ = mapping;
    cost_ = cost;
    found_after_s_ = deadline_.seconds();
  }

  void search_locally() {
    const MapspaceSampling space(mapspace_, turn_of(deadline_.left()));
    SearchLimits half;
    half.seconds = kLocalShare / 2 * deadline_.limit();
    half.deadline = &deadline_;
    const std::optional<SlotMapping> found = local_best(space, options_.threads, half);
    if (!found) return;
    const Mapping mapping = space.choices().build(*found);
    offer(mapping, evaluate_mapping(mapspace_.workload, mapspace_.hardware, mapping, options_.rules));
  }

  // The last search with the best mapping of all; what both of the objective's own have proven.
  MapResult joined(MapResult first, MapResult last) const {
    last.nodes += first.nodes;
    last.pruned += first.pruned;
    last.evaluated += first.evaluated;
    last.seconds = deadline_.seconds();
    last.curve.insert(last.curve.begin(), first.curve.begin(), first.curve.end());
    if (last.status == MapStatus::kOptimal || best_.levels.empty()) return last;
    if (last.mapping != best_) {
      last.mapping = best_;
      last.cost = cost_;
      last.value = objective_value(options_.objective, cost_);
      last.seconds_to_value = found_after_s_;
    }
    last.lower_bound = joint_bound({first.lower_bound, last.lower_bound}, last.value);
    last.curve.push_back({last.seconds, last.value, last.lower_bound});
    return last;
  }

  const Mapspace& mapspace_;
  const MapperOptions& options_;
  const Progress& progress_;
  const Deadline deadline_;
  Mapping best_;  // no levels: none yet
  Cost cost_;
  double found_after_s_ = 0;
};

}  // namespace

double joint_bound(std::pair<double, double> bounds, double value) {
  return std::min(value, std::max(bounds.first, bounds.second));
}

std::optional<SlotMapping> local_best(const MapspaceSampling& space, int threads, const SearchLimits& half) {
  HoppingOptions<SlotMapping, MapValue> hopping;
  hopping.threads = threads;
  hopping.lanes = 4;
  hopping.limits = half;
  const SamplingResultOf<MapspaceSampling> hopped = hop_basins(space, hopping);
  AnnealingOptions<SlotMapping, MapValue> annealing;
  annealing.threads = threads;
  annealing.limits = half;
  annealing.relative = true;
  const SamplingResultOf<MapspaceSampling> annealed = anneal(space, annealing);
  const bool hopped_better = !annealed.best || (hopped.best && *hopped.end.value < *annealed.end.value);
  return hopped_better ? hopped.best : annealed.best;
}

std::optional<Scored<SlotMapping, MapValue>> start_of(const MapspaceSampling& space,
                                                      const MapperOptions& options) {
  if (options.start == nullptr) return {};
  SlotMapping start = space.choices().flatten(*options.start);
  const std::optional<MapValue> value = space.cost(start);
  if (!value) return {};
  return Scored<SlotMapping, MapValue>{std::move(start), *value};
}

MapResult find_mapping(const Mapspace& mapspace, const MapperOptions& options, const Progress& progress) {
  const bool limited = Deadline(limit_seconds(options), options.deadline).limited();
  if (!limited || options.check_bounds) return search_mapping(mapspace, options, progress);
  return SharedSearch(mapspace, options, progress).run();
}

}  // namespace tilewright
