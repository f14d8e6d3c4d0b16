// Reports of the exact mapper and of given mappings.
#include "tilewright/flow/map/map_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/base/yaml.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"
#include "tilewright/spatial/network/study_network.h"

namespace tilewright {
namespace {

CostRules cost_rules(MapRules rules) {
  switch (rules) {
    case MapRules::kPhysical:
      return kPhysicalRules;
    case MapRules::kTimeloop:
      return kTimeloopRules;
    case MapRules::kStudy:
      break;
  }
  throw Error(ErrorKind::kInvalidInput, "the rules of the study cost dataflows only",
              "name one with --dataflow, or use --rules physical");
}

NetworkReport started(WorkloadNetwork network, const MapRequest& request) {
  Diagnostics diagnostics;
  request.hardware.verify(diagnostics);
  diagnostics.raise_if_any(fmt::format("hardware '{}'", request.hardware.name));
  NetworkReport report = report_header(std::move(network), request.hardware);
  report.batch = request.batch;
  report.rules = name(request.rules);
  report.objective = name(request.mapper.objective);
  return report;
}

NetworkMapOptions map_options(const MapRequest& request) {
  NetworkMapOptions options;
  options.mapper = request.mapper;
  options.mapper.rules = cost_rules(request.rules);
  options.imperfect = request.imperfect;
  options.constraints = request.constraints;
  options.dataflow = request.dataflow;
  options.cache = request.cache;
  return options;
}

}  // namespace

const char* name(MapRules rules) {
  switch (rules) {
    case MapRules::kPhysical:
      return "physical";
    case MapRules::kTimeloop:
      return "timeloop";
    case MapRules::kStudy:
      return "study";
  }
  return "";
}

const char* name(MapObjective objective) {
  switch (objective) {
    case MapObjective::kEnergy:
      return "energy";
    case MapObjective::kLatency:
      return "latency";
    case MapObjective::kEdp:
      return "edp";
  }
  return "";
}

NetworkReport map_network(WorkloadNetwork network, const MapRequest& request,
                          const NetworkProgressSink& progress) {
  NetworkReport report = started(std::move(network), request);
  report.runs.push_back(map_freely(report.network, request.hardware, map_options(request), progress));
  return report;
}

NetworkFronts map_fronts(const NetworkReport& report, const MapRequest& request,
                         const NetworkProgressSink& progress) {
  return network_fronts(report.network, request.hardware, map_options(request), progress,
                        &report.runs.front());
}

BufferFronts map_buffer_fronts(const NetworkReport& report, const MapRequest& request,
                               const std::string& level, const NetworkProgressSink& progress) {
  return buffer_fronts(report.network, request.hardware, level, map_options(request), progress);
}

FusionReport map_fused(const NetworkReport& report, const MapRequest& request,
                       const std::vector<std::vector<int>>& chains,
                       const std::function<void(int chain, int count)>& progress) {
  constexpr int kLongest = 3;
  // A mapping that is not proven after this long rarely decides between two tilings.
  constexpr double kPhaseLimit = 0.3;
  FusionOptions options;
  options.rules = cost_rules(request.rules);
  options.threads = request.mapper.threads;
  options.imperfect = request.imperfect;
  options.constraints = request.constraints;
  options.phase_limit_s = kPhaseLimit;
  options.deadline = request.mapper.deadline;
  if (request.mapper.time_limit_s > 0) {
    std::set<std::vector<int>> segments;
    for (const std::vector<int>& chain : chains) {
      for (size_t begin = 0; begin < chain.size(); ++begin) {
        std::vector<int> shapes = {report.network.layers[size_t(chain[begin])].shape};
        for (size_t at = begin + 1; at < std::min(chain.size(), begin + size_t(kLongest)); ++at) {
          shapes.push_back(report.network.layers[size_t(chain[at])].shape);
          segments.insert(shapes);
        }
      }
    }
    options.time_limit_s = request.mapper.time_limit_s / double(std::max<size_t>(segments.size(), 1));
    options.phase_limit_s = std::min(kPhaseLimit, options.time_limit_s / 4);
  }
  FusionSearch search(request.hardware, options);
  return fuse_network(report, report.runs.front(), chains, search, kLongest, progress);
}

NetworkReport map_dataflows(WorkloadNetwork network, const MapRequest& request,
                            const std::vector<study::Dataflow>& dataflows, bool equal_area) {
  if (request.mapper.max_cycles) {
    Diagnostics diagnostics;
    diagnostics.error(ErrorKind::kInvalidInput, "", "--max-cycles", "dataflows are searched without a limit");
    diagnostics.raise_if_any();
  }
  NetworkReport report = started(std::move(network), request);
  report.rules = name(MapRules::kStudy);
  report.equal_area = equal_area;
  const study::StudyMachine machine = study::study_machine(request.hardware);
  const Deadline deadline(limit_seconds(request.mapper), request.mapper.deadline);
  for (const study::Dataflow& dataflow : dataflows) {
    const Deadline part(deadline.left() / double(dataflows.size() - report.runs.size()), &deadline);
    const study::Storage storage = dataflow_storage(machine, dataflow.register_file_bytes, equal_area);
    report.runs.push_back(map_with_dataflow(report.network, dataflow, machine, storage,
                                            request.mapper.threads, request.mapper.objective, &part));
  }
  return report;
}

UnionTable map_unions(const NetworkReport& report, const MapRequest& request,
                      const std::vector<study::Dataflow>& dataflows) {
  const study::StudyMachine machine = study::study_machine(request.hardware);
  SharedStorageRuns runs(report.network, dataflows, machine, request.mapper.threads, request.mapper.deadline);
  std::vector<std::string> names;
  for (const study::Dataflow& dataflow : dataflows) names.push_back(dataflow.name);
  constexpr int kLargestUnion = 3;
  return union_table(report.network, names, kLargestUnion,
                     [&](int dataflow, const std::vector<int>& partners) -> const DataflowRun& {
                       return runs.run(dataflow, partners);
                     });
}

bool is_constraint_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const YAML::Node document = read_yaml_file(path);
  return document.IsMap() && document["levels"].IsDefined() && !document["variables"].IsDefined();
}

MapspaceRule constraint_rule(const std::filesystem::path& path, const ArrayHardware& hardware) {
  return [text = read_text_file(path), source = path.string(), hardware](const Workload& workload) {
    return parse_mapspace(text, source, workload, hardware);
  };
}

std::vector<study::Dataflow> find_dataflows(const std::vector<std::string>& names_or_paths,
                                            const std::filesystem::path& folder) {
  const std::vector<std::string>& known = study::taxonomy_names();
  std::vector<study::Dataflow> result;
  for (const std::string& given : names_or_paths) {
    if (given == "all") {
      for (study::Dataflow& dataflow : study::read_dataflows(folder, known))
        result.push_back(std::move(dataflow));
      continue;
    }
    // The papers write OS_A; the files have it without the line.
    std::string plain;
    for (const char c : given) {
      if (c != '_') plain += char(std::tolower(static_cast<unsigned char>(c)));
    }
    std::error_code ignored;
    if (std::find(known.begin(), known.end(), plain) != known.end()) {
      result.push_back(study::read_dataflow(folder / (plain + ".yaml")));
    } else if (std::filesystem::exists(given, ignored)) {
      result.push_back(study::read_dataflow(given));
    } else if (std::filesystem::exists(folder / (given + ".yaml"), ignored)) {
      result.push_back(study::read_dataflow(folder / (given + ".yaml")));
    } else {
      std::vector<std::string> words = known;
      words.emplace_back("all");
      throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is neither a dataflow nor a file", given),
                  words_hint(given, words, "known dataflows"));
    }
  }
  return result;
}

NetworkReport evaluate_mappings(WorkloadNetwork network, const MapRequest& request, const MappingFile& file) {
  NetworkReport report = started(std::move(network), request);
  report.objective.clear();
  const CostRules rules = cost_rules(request.rules);
  // Equal layers may have different mappings here, so each becomes a shape of its own.
  WorkloadNetwork separate = report.network;
  separate.layers.clear();
  separate.shapes.clear();
  for (const NetworkLayer& layer : report.network.layers) {
    Workload workload = report.network.workload(layer);
    workload.name = layer.name;
    separate.layers.push_back({layer.name, layer.op, int(separate.shapes.size())});
    separate.shapes.push_back(std::move(workload));
  }
  report.network = std::move(separate);
  DataflowRun run{"given", cost_places(request.hardware), {}};
  Diagnostics diagnostics;
  int found = 0;
  for (const Workload& workload : report.network.shapes) {
    LayerCost cost;
    cost.status = LayerStatus::kUnsupported;
    cost.reason = fmt::format("'{}' has no mapping for it", file.source);
    if (const std::string* text = file.find(workload.name)) {
      ++found;
      try {
        const Mapping mapping = parse_mapping(*text, file.source, workload);
        const size_t before = diagnostics.errors().size();
        check_array_mapping(workload, request.hardware, mapping,
                            fmt::format("mapping of '{}'", workload.name), diagnostics, rules.accounting);
        if (diagnostics.errors().size() == before) {
          cost = layer_cost(workload, request.hardware, mapping,
                            evaluate_mapping(workload, request.hardware, mapping, rules));
        }
      } catch (const Error& error) {
        for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
      }
    }
    run.costs.push_back(std::move(cost));
  }
  diagnostics.raise_if_any();
  if (found == 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' has no mapping for any of the layers", file.source),
                "entries are matched by the layer's name");
  }
  report.runs.push_back(std::move(run));
  return report;
}

}  // namespace tilewright
