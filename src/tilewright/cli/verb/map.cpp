// `map`: checks which options go together, collects hardware, layers and rules from our files or from
// Timeloop's, runs the search or the evaluation that they ask for, then adds the front, the fused chains and
// the comparison with a baseline.
#include "tilewright/flow/map/map.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/map/map_report.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/spatial/chip/chip_network.h"
#include "tilewright/spatial/network/layer_front.h"
#include "tilewright/spatial/network/network_files.h"
#include "tilewright/spatial/network/network_plots.h"
#include "tilewright/spatial/network/network_table.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright::cli {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::kInvalidInput, message, hint);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Options that contradict each other or that lack a part.
void check_options(const MapOptions& options) {
  const bool own_layers = !options.model.path.empty() || !options.workload.empty();
  if (own_layers ? !options.model.path.empty() && !options.workload.empty() : options.timeloop.empty()) {
    refuse("give a model or --workload, one of them", "tilewright map --help shows an example");
  }
  if (options.hardware.empty() && options.timeloop.empty()) {
    refuse("no hardware given", "name an array with --hardware");
  }
  if (!options.mapping.empty() && !options.dataflow.empty()) {
    refuse("--mapping and --dataflow exclude each other", "a given mapping is not searched for");
  }
  const bool study = !options.dataflow.empty() && !is_constraint_file(options.dataflow);
  const bool fronts = options.pareto || !options.pareto_buffer.empty();
  if (study && (fronts || options.fuse)) {
    refuse("--pareto and --fuse search the free mapspace", "leave out --dataflow");
  }
  const bool several = options.dataflow == "all" || options.dataflow.find(',') != std::string::npos;
  if (options.simulate && (!study || several)) {
    refuse("--simulate runs the mappings of one dataflow", "use --hardware eyeriss-chip --dataflow rs-chip");
  }
  if (study && !options.rules.empty() && options.rules != "study") {
    refuse("named dataflows are always costed by the rules of the study",
           "leave out --rules, or give --dataflow a file of constraints");
  }
  if (options.equal_area && !study) refuse("--equal-area needs dataflows", "add --dataflow all");
  if (options.unions && !study) refuse("--union needs dataflows", "add --dataflow all");
  if (!options.mapping.empty() && (fronts || options.unions || options.fuse)) {
    refuse("--mapping does not search", "leave out --pareto, --union and --fuse");
  }
}

MapObjective objective_of(const std::string& text) {
  return text == "latency" ? MapObjective::kLatency
         : text == "edp"   ? MapObjective::kEdp
                           : MapObjective::kEnergy;
}

MapRules rules_of(const MapOptions& options) {
  if (options.rules.empty()) return options.timeloop.empty() ? MapRules::kPhysical : MapRules::kTimeloop;
  return options.rules == "timeloop" ? MapRules::kTimeloop
         : options.rules == "study"  ? MapRules::kStudy
                                     : MapRules::kPhysical;
}

// The layers to map, and the graph they come from.
struct Input {
  std::optional<Graph> graph;
  Network network;
  int64_t batch = 1;
};

int64_t model_batch(const Graph& graph) {
  for (const ValueId input : graph.inputs) {
    if (graph.value(input).shape.rank() > 0) return graph.value(input).shape[0];
  }
  return 1;
}

// Adds a layer with `factor` times as many images as it states.
void add_layer(Input& input, const Workload& workload, const std::string& kind, int64_t factor) {
  factor = std::max<int64_t>(factor, 1);
  const Workload grown = with_batch(workload, factor, true);
  const int64_t batch = factor * batch_size(workload);
  const bool first = input.network.layers.empty();
  input.batch = first || input.batch == batch ? batch : 0;
  input.network.add(workload.name, kind, grown);
}

Input read_input(const MapOptions& options, const TimeloopImport& imported) {
  Input input;
  if (options.model.path.empty() && options.workload.empty()) {
    if (!imported.workload)
      refuse("the Timeloop files contain no problem definition",
             "add its file, or give a model or --workload");
    input.network.name = imported.workload->name;
    add_layer(input, *imported.workload, "problem", options.batch);
    return input;
  }
  if (options.workload.empty()) {
    input.graph = read_model(options.model, true);
    input.network = network_of(*input.graph, options.batch);
    input.network.name = std::filesystem::path(options.model.path).stem().string();
    input.batch = options.batch > 0 ? options.batch : model_batch(*input.graph);
    return input;
  }
  input.network.name = std::filesystem::path(options.workload).stem().string();
  for (const Workload& workload : read_workloads(options.workload))
    add_layer(input, workload, "workload", options.batch);
  return input;
}

// Timeloop's files give what no file of our own gives: machine, layer, constraints, mapping.
TimeloopImport read_timeloop_files(const MapOptions& options, MapRequest& request) {
  const std::vector<std::filesystem::path> files(options.timeloop.begin(), options.timeloop.end());
  TimeloopImport imported = read_timeloop(files);
  for (const Diagnostic& note : imported.notes) std::cerr << "note: " << to_string(note) << "\n";
  if (options.hardware.empty()) {
    if (!imported.hardware)
      refuse("the Timeloop files contain no architecture", "add its file, or --hardware");
    request.hardware = *imported.hardware;
  }
  const bool own_layers = !options.model.path.empty() || !options.workload.empty();
  if (imported.mapspace && options.hardware.empty() && !own_layers) {
    request.constraints = [mapspace = *imported.mapspace](const Workload& workload) {
      Mapspace same = mapspace;
      same.workload = workload;
      return same;
    };
  }
  return imported;
}

// Layers of a workload file are a chain in the order of the file.
std::vector<std::vector<int>> chains_of(const Input& input) {
  if (input.graph) return layer_chains(*input.graph, input.network);
  std::vector<int> all;
  for (size_t layer = 0; layer < input.network.layers.size(); ++layer) all.push_back(int(layer));
  return {all};
}

std::string mapping_progress(const NetworkProgress& at) {
  std::string text = fmt::format("{} of {}: {}", at.number, at.count, at.layer);
  if (at.best > 0)
    text += fmt::format(", best {:.4g}, gap {:.1f} %", at.best, 100 * (1 - at.bound / at.best));
  return text;
}

void write_files(const MapOptions& options, const NetworkReport& report, const NetworkFronts* fronts) {
  if (!options.csv.empty()) write_text_file(options.csv, report_csv(report));
  if (!options.plot.empty())
    write_text_file(options.plot, fronts ? front_svg(*fronts, report) : report_svg(report));
  if (!options.output.empty()) write_text_file(options.output, print_mapping_file(report));
}

// No dataflow runs everything: what there is has been printed, and the exit code says so.
void fail_without_mapping(const NetworkReport& report) {
  int least = int(report.network.layers.size());
  for (const DataflowRun& run : report.runs) least = std::min(least, report.totals(run).missing);
  if (least == 0) return;
  std::string reason;
  for (const DataflowRun& run : report.runs) {
    for (const LayerCost& cost : run.costs) {
      if (reason.empty() && !cost.has_cost()) reason = cost.reason;
    }
  }
  throw Error(ErrorKind::kInfeasible,
              fmt::format("{} of {} layers have no mapping{}", least, report.network.layers.size(),
                          report.runs.size() > 1 ? " under the best of the dataflows" : ""),
              reason);
}

// What is searched on the request's hardware, and for how long.
void set_search(const MapOptions& options, MapRequest& request) {
  request.imperfect = options.imperfect;
  request.mapper.objective = objective_of(options.objective);
  if (options.max_cycles > 0) request.mapper.max_cycles = options.max_cycles;
  // Each search has an equal part of the time.
  const int searches = 1 + int(options.pareto) + int(!options.pareto_buffer.empty()) + int(options.fuse);
  request.mapper.time_limit_s = options.limits.time_s / double(searches);
  request.mapper.threads = options.threads;
  request.rules = rules_of(options);
  if (is_constraint_file(options.dataflow)) {
    request.constraints = constraint_rule(options.dataflow, request.hardware);
    request.dataflow = std::filesystem::path(options.dataflow).stem().string();
  }
}

// What searches add to the table and to the document.
struct Additions {
  std::string text;
  std::map<std::string, std::string> sections;
  void add(const std::string& section, const std::string& table, const std::string& json) {
    text += "\n" + table;
    sections[section] = json;
  }
};

std::optional<NetworkFronts> add_fronts(const MapOptions& options, const NetworkReport& report,
                                        const MapRequest& request, const NetworkProgressSink& progress,
                                        Additions& additions) {
  std::optional<NetworkFronts> fronts;
  if (options.pareto) {
    fronts = map_fronts(report, request, progress);
    additions.add("front", front_text(*fronts, report), front_json(*fronts));
  }
  if (!options.pareto_buffer.empty()) {
    const BufferFronts buffer = map_buffer_fronts(report, request, options.pareto_buffer, progress);
    additions.add("buffer_fronts", buffer_front_text(buffer, report), buffer_front_json(buffer, report));
  }
  return fronts;
}

void add_simulation(const MapOptions& options, const NetworkReport& report, const Deadline& deadline,
                    Additions& additions) {
  const RowStationaryChip chip = find_row_stationary_chip(options.hardware, shared_folder("hardware"));
  const ChipTimes times = simulate_on_chip(report, report.runs.front(), chip, deadline);
  additions.add("simulation", chip_times_text(times, report, report.runs.front()),
                chip_times_json(times, report));
}

}  // namespace

void map(const MapOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  check_options(options);
  MapRequest request;
  request.mapper.deadline = &limits.deadline();
  if (!options.hardware.empty()) {
    request.hardware = find_array_hardware(options.hardware, shared_folder("hardware"));
  }
  TimeloopImport imported;
  if (!options.timeloop.empty()) imported = read_timeloop_files(options, request);
  std::optional<Baseline> baseline;
  if (!options.baseline.empty()) baseline = read_baseline(options.baseline);
  std::optional<MappingCache> cache;
  if (!options.cache.empty()) cache.emplace(options.cache, TILEWRIGHT_VERSION);
  request.cache = cache ? &*cache : nullptr;
  set_search(options, request);
  Input input = read_input(options, imported);
  request.batch = input.batch;
  std::vector<std::vector<int>> chains;
  if (options.fuse) chains = chains_of(input);

  Additions additions;
  NetworkReport report;
  std::optional<ProgressLine> line(std::in_place);
  const NetworkProgressSink progress = [&line](const NetworkProgress& at) {
    line->update([&] { return mapping_progress(at); });
  };
  if (!options.mapping.empty() || imported.mapping) {
    const MappingFile file = !options.mapping.empty()
                                 ? read_mapping_file(options.mapping)
                                 : MappingFile{"the Timeloop mapping",
                                               {{"", print_mapping(*imported.workload, *imported.mapping)}}};
    report = evaluate_mappings(std::move(input.network), request, file);
  } else if (!options.dataflow.empty() && !request.constraints) {
    const auto dataflows = find_dataflows(split(options.dataflow), shared_folder("dataflows"));
    report = map_dataflows(std::move(input.network), request, dataflows, options.equal_area);
    if (options.unions) {
      const UnionTable table = map_unions(report, request, dataflows);
      additions.add("unions", union_text(table, report), union_json(table, report));
    }
  } else {
    report = map_network(std::move(input.network), request, progress);
  }
  const std::optional<NetworkFronts> fronts = add_fronts(options, report, request, progress, additions);
  if (options.simulate) add_simulation(options, report, limits.deadline(), additions);
  if (options.fuse) {
    const FusionReport fusion = map_fused(report, request, chains, [&](int chain, int count) {
      progress({"chain of layers", chain, count});
    });
    additions.add("fusion", fusion_text(fusion, report), fusion_json(fusion, report));
  }
  if (baseline) {
    const BaselineComparison comparison = compare_with_baseline(report, *baseline);
    additions.add("comparison", comparison_text(comparison, *baseline),
                  comparison_json(comparison, *baseline));
  }
  line.reset();
  write_files(options, report, fronts ? &*fronts : nullptr);
  if (options.json) {
    out << report_json(report, additions.sections);
  } else {
    out << network_table(report, {options.show_mappings}) << additions.text << limits.note();
    if (cache && cache->hits() + cache->misses() > 0)
      out << fmt::format("note: {} of {} mappings came from the cache\n", cache->hits(),
                         cache->hits() + cache->misses());
  }
  if (cache) {
    for (const std::string& warning : cache->warnings()) std::cerr << "warning: " << warning << "\n";
  }
  fail_without_mapping(report);
}

}  // namespace tilewright::cli
