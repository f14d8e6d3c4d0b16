// The loop over the shapes of a network. Shapes are mapped one after the other and the mapper itself uses the
// threads: large layers would otherwise leave threads idle at the end.
#include "tilewright/spatial/network/map_network.h"

#include <algorithm>

namespace tilewright {
namespace {

bool has_network_energy(const ArrayHardware& hardware) {
  return std::any_of(hardware.levels.begin(), hardware.levels.end(), [](const ArrayLevel& level) {
    return level.network.delivery_energy > 0 || level.network.hop_energy > 0;
  });
}

// `nominal_s` is the limit that the cache knows the question by: the actual one differs from run to run. An
// answer that had much less time than that, or was stopped by something else, is not remembered.
MapResult find_or_map(const Mapspace& mapspace, const MapperOptions& options, double nominal_s,
                      MappingCache* cache, const std::function<void(const MapProgress&)>& progress) {
  if (!cache) return find_mapping(mapspace, options, progress);
  MapperOptions question = options;
  question.time_limit_s = nominal_s;
  if (auto known = cache->find(mapspace, question)) return *std::move(known);
  MapResult result = find_mapping(mapspace, options, progress);
  const Ending ending = options.deadline ? options.deadline->ending() : Ending::kNone;
  const bool stopped_early = ending == Ending::kMemory || ending == Ending::kRequest ||
                             (options.time_limit_s > 0 && options.time_limit_s < nominal_s / 2);
  if (result.status != MapStatus::kStopped || (result.found() && !stopped_early))
    cache->store(mapspace, question, result);
  return result;
}

}  // namespace

Mapspace layer_mapspace(const Workload& workload, const ArrayHardware& hardware,
                        const NetworkMapOptions& options) {
  if (!options.constraints) return {workload, hardware, {}, options.imperfect};
  Mapspace mapspace = options.constraints(workload);
  mapspace.imperfect = mapspace.imperfect || options.imperfect;
  return mapspace;
}

std::vector<std::string> cost_places(const ArrayHardware& hardware) {
  std::vector<std::string> places;
  const bool networks = has_network_energy(hardware);
  for (const ArrayLevel& level : hardware.levels) {
    places.push_back(level.name);
    if (networks) places.push_back(level.name + " network");
  }
  return places;
}

LayerCost layer_cost(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                     const Cost& cost) {
  LayerCost layer;
  layer.status = LayerStatus::kEvaluated;
  layer.energy = cost.energy;
  layer.arithmetic_energy = cost.arithmetic_energy;
  layer.cycles = double(cost.cycles);
  layer.utilisation = cost.utilisation;
  const bool networks = has_network_energy(hardware);
  for (size_t level = 0; level < hardware.levels.size(); ++level) {
    layer.parts.push_back(cost.memory_energy[level]);
    if (networks) layer.parts.push_back(cost.network_energy[level]);
  }
  double active = 1;
  for (const MappingLevel& level : mapping.levels) {
    for (const SpatialLoop& loop : level.spatial) active *= double(loop.factor);
  }
  layer.active_pes = active;
  layer.mapping = print_mapping(workload, mapping);
  return layer;
}

LayerCost layer_cost(const Mapspace& mapspace, const MapResult& result) {
  LayerCost layer;
  if (result.status == MapStatus::kInfeasible) {
    layer.reason = result.infeasible_reason;
  } else if (!result.found()) {
    layer.status = LayerStatus::kStopped;
    layer.reason = kNothingInTime;
  } else {
    layer = layer_cost(mapspace.workload, mapspace.hardware, result.mapping, result.cost);
    layer.status = result.status == MapStatus::kOptimal ? LayerStatus::kProven : LayerStatus::kStopped;
    layer.value = result.value;
    layer.lower_bound = result.lower_bound;
  }
  layer.mapspace_size = result.mapspace_size;
  layer.nodes = result.nodes;
  layer.pruned = result.pruned;
  layer.seconds = result.seconds;
  return layer;
}

DataflowRun map_freely(const WorkloadNetwork& network, const ArrayHardware& hardware,
                       const NetworkMapOptions& options, const NetworkProgressSink& progress) {
  const Deadline deadline(limit_seconds(options.mapper), options.mapper.deadline);
  DataflowRun run{options.dataflow, cost_places(hardware), {}};
  for (size_t shape = 0; shape < network.shapes.size(); ++shape) {
    const Workload& workload = network.shapes[shape];
    NetworkProgress state{workload.name, int(shape) + 1, int(network.shapes.size())};
    if (progress) progress(state);
    Mapspace mapspace;
    try {
      mapspace = layer_mapspace(workload, hardware, options);
    } catch (const Error& error) {
      LayerCost refused;
      refused.status = LayerStatus::kUnsupported;
      refused.reason = error.what();
      run.costs.push_back(std::move(refused));
      continue;
    }
    MapperOptions mapper = options.mapper;
    mapper.deadline = &deadline;
    if (deadline.limited())
      mapper.time_limit_s = std::max(1e-6, deadline.left() / double(network.shapes.size() - shape));
    std::function<void(const MapProgress&)> searching;
    if (progress) {
      searching = [&](const MapProgress& step) {
        state.best = step.best;
        state.bound = step.bound;
        progress(state);
      };
    }
    const double nominal_s = options.mapper.time_limit_s / double(network.shapes.size());
    run.costs.push_back(
        layer_cost(mapspace, find_or_map(mapspace, mapper, nominal_s, options.cache, searching)));
  }
  return run;
}

NetworkReport report_header(WorkloadNetwork network, const ArrayHardware& hardware) {
  NetworkReport report;
  report.network = std::move(network);
  report.hardware = hardware.name;
  report.energy_unit = hardware.energy_unit;
  report.pes = hardware.pe_count();
  report.clock_mhz = hardware.clock_mhz;
  return report;
}

}  // namespace tilewright
