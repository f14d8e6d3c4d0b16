// The work of the verb `map`: a network and a machine in, a report out.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/spatial/network/fused_search.h"
#include "tilewright/spatial/network/layer_front.h"
#include "tilewright/spatial/network/map_network.h"
#include "tilewright/spatial/network/mapping_file.h"
#include "tilewright/spatial/network/network_report.h"
#include "tilewright/spatial/network/union_architecture.h"
#include "tilewright/spatial/taxonomy/dataflow.h"

namespace tilewright {

enum class MapRules : uint8_t {
  kPhysical,  // fills, drains and networks charged; exact counts
  kTimeloop,  // Timeloop's accounting
  kStudy,     // the reuse framework of the row-stationary paper
};
const char* name(MapRules rules);
const char* name(MapObjective objective);

struct MapRequest {
  ArrayHardware hardware;
  MapRules rules = MapRules::kPhysical;
  int64_t batch = 1;  // for the report; the network already has it
  // The mapper's rules follow from `rules`.
  MapperOptions mapper;
  bool imperfect = false;
  MapspaceRule constraints;  // empty: none
  std::string dataflow = "free";
  MappingCache* cache = nullptr;
};

// One run with the exact mapper. Errors (invalid input): a machine that does not verify; rules of the study.
NetworkReport map_network(WorkloadNetwork network, const MapRequest& request,
                          const NetworkProgressSink& progress = {});

// The energy-latency front of the same layers on the same machine.
NetworkFronts map_fronts(const NetworkReport& report, const MapRequest& request,
                         const NetworkProgressSink& progress = {});

// The same layers' fronts of energy, latency and words of a level. Errors (invalid input): no such level.
BufferFronts map_buffer_fronts(const NetworkReport& report, const MapRequest& request,
                               const std::string& level, const NetworkProgressSink& progress = {});

// What fusing the chains of layers (layer_chains) saves over the report's run. Each distinct segment has an
// equal part of the mapper's time limit, if there is one.
FusionReport map_fused(const NetworkReport& report, const MapRequest& request,
                       const std::vector<std::vector<int>>& chains,
                       const std::function<void(int chain, int count)>& progress = {});

// A run per dataflow by the rules of the study, least energy each. Errors (invalid input): a machine without
// `study` section; another objective than energy, a latency limit.
NetworkReport map_dataflows(WorkloadNetwork network, const MapRequest& request,
                            const std::vector<study::Dataflow>& dataflows, bool equal_area);
// The gain from supporting two or three of the dataflows, on storage of equal area.
UnionTable map_unions(const NetworkReport& report, const MapRequest& request,
                      const std::vector<study::Dataflow>& dataflows);

// Whether a YAML file holds mapspace constraints (spatial/mapspace/mapspace_text.h) and no dataflow of the
// study.
bool is_constraint_file(const std::filesystem::path& path);
// The rule of such a file.
MapspaceRule constraint_rule(const std::filesystem::path& path, const ArrayHardware& hardware);

// Dataflows by name (rs, ws, os_a, os_b, os_c, nlr; "all": these six) or file. Errors (invalid input):
// neither a name nor a file (lists the names); whatever reading reports.
std::vector<study::Dataflow> find_dataflows(const std::vector<std::string>& names_or_paths,
                                            const std::filesystem::path& folder);

// The cost of given mappings. Layers of the network that are not in the file become layers without cost.
// Errors (invalid input): every rule that any of the mappings breaks, all at once; no layer has one.
NetworkReport evaluate_mappings(WorkloadNetwork network, const MapRequest& request, const MappingFile& file);

}  // namespace tilewright
