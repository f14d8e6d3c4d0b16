// Mapping every layer of a network with the exact mapper, equal layers once, known ones from a cache.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/spatial/mapper/mapper.h"
#include "tilewright/spatial/network/mapping_cache.h"
#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// The mapspace of a layer under a user's constraints. It may refuse a layer with an Error.
using MapspaceRule = std::function<Mapspace(const Workload& workload)>;

struct NetworkMapOptions {
  // time_limit_s is that of the whole network: each shape may use an equal part of what is left, so time that
  // proofs do not need goes to later shapes. max_cycles holds for each layer.
  MapperOptions mapper;
  bool imperfect = false;
  MapspaceRule constraints;       // empty: none
  std::string dataflow = "free";  // name of the run
  MappingCache* cache = nullptr;
};

// Progress: shape `number` of `count`, counted from 1, and the state of its search; `best` is 0 before it has
// a mapping.
struct NetworkProgress {
  std::string layer;
  int number = 0, count = 0;
  double best = 0, bound = 0;
};
using NetworkProgressSink = std::function<void(const NetworkProgress& progress)>;

// A shape that the constraints cannot be stated for, or that has no mapping, becomes a LayerCost with the
// reason. Results do not depend on the number of threads, unless a time limit stops a search.
DataflowRun map_freely(const WorkloadNetwork& network, const ArrayHardware& hardware,
                       const NetworkMapOptions& options, const NetworkProgressSink& progress = {});

// What is searched for one layer. Errors: those of the constraints.
Mapspace layer_mapspace(const Workload& workload, const ArrayHardware& hardware,
                        const NetworkMapOptions& options);

// Where the energy of a Cost goes, as DataflowRun::places: every level's memory, then its network if any
// level's network costs energy; and the parts in that order.
std::vector<std::string> cost_places(const ArrayHardware& hardware);
// A layer's cost from a mapping and what it costs; status kEvaluated.
LayerCost layer_cost(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                     const Cost& cost);
LayerCost layer_cost(const Mapspace& mapspace, const MapResult& result);

// A report without runs.
NetworkReport report_header(WorkloadNetwork network, const ArrayHardware& hardware);

}  // namespace tilewright
