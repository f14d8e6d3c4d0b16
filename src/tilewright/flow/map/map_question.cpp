// Hardware, layers and rules come from our files or from Timeloop's; then the search or the evaluation that
// they ask for runs, and the front, the fused chains and the comparison with a baseline are added.
#include "tilewright/flow/map/map_question.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/map/map.h"
#include "tilewright/flow/model/choice.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/spatial/chip/chip_network.h"
#include "tilewright/spatial/network/network_files.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
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
void check_options(const MapQuestion& question) {
  const bool own_layers = !question.model.path.empty() || !question.workload.empty();
  if (own_layers ? !question.model.path.empty() && !question.workload.empty() : question.timeloop.empty()) {
    refuse("give a model or --workload, one of them", "tilewright map --help shows an example");
  }
  if (question.hardware.empty() && question.timeloop.empty()) {
    refuse("no hardware given", "name an array with --hardware");
  }
  if (!question.mapping.empty() && !question.dataflow.empty()) {
    refuse("--mapping and --dataflow exclude each other", "a given mapping is not searched for");
  }
  const bool study = !question.dataflow.empty() && !is_constraint_file(question.dataflow);
  const bool fronts = question.pareto || !question.pareto_buffer.empty();
  if (study && (fronts || question.fuse)) {
    refuse("--pareto and --fuse search the free mapspace", "leave out --dataflow");
  }
  const bool several = question.dataflow == "all" || question.dataflow.find(',') != std::string::npos;
  if (question.simulate && (!study || several)) {
    refuse("--simulate runs the mappings of one dataflow", "use --hardware eyeriss-chip --dataflow rs-chip");
  }
  if (study && !question.rules.empty() && question.rules != "study") {
    refuse("named dataflows are always costed by the rules of the study",
           "leave out --rules, or give --dataflow a file of constraints");
  }
  if (question.equal_area && !study) refuse("--equal-area needs dataflows", "add --dataflow all");
  if (question.unions && !study) refuse("--union needs dataflows", "add --dataflow all");
  if (!question.mapping.empty() && (fronts || question.unions || question.fuse)) {
    refuse("--mapping does not search", "leave out --pareto, --union and --fuse");
  }
}

MapRules rules_of(const MapQuestion& question, Diagnostics& problems) {
  if (question.rules.empty()) return question.timeloop.empty() ? MapRules::kPhysical : MapRules::kTimeloop;
  return choose<MapRules>(
      "rules", question.rules,
      {{"physical", MapRules::kPhysical}, {"timeloop", MapRules::kTimeloop}, {"study", MapRules::kStudy}},
      problems);
}

// The layers to map, and the graph they come from.
struct MapInput {
  std::optional<Graph> graph;
  WorkloadNetwork network;
  int64_t batch = 1;
};

int64_t model_batch(const Graph& graph) {
  for (const ValueId input : graph.inputs) {
    if (graph.value(input).shape.rank() > 0) return graph.value(input).shape[0];
  }
  return 1;
}

// Adds a layer with `factor` times as many images as it states.
void add_layer(MapInput& input, const Workload& workload, const std::string& kind, int64_t factor) {
  factor = std::max<int64_t>(factor, 1);
  const Workload grown = with_batch(workload, factor, true);
  const int64_t batch = factor * batch_size(workload);
  const bool first = input.network.layers.empty();
  input.batch = first || input.batch == batch ? batch : 0;
  input.network.add(workload.name, kind, grown);
}

MapInput read_input(const MapQuestion& question, const TimeloopImport& imported) {
  MapInput input;
  if (question.model.path.empty() && question.workload.empty()) {
    if (!imported.workload)
      refuse("the Timeloop files contain no problem definition",
             "add its file, or give a model or --workload");
    input.network.name = imported.workload->name;
    add_layer(input, *imported.workload, "problem", question.batch);
    return input;
  }
  if (question.workload.empty()) {
    input.graph = load_shapes(question.model);
    input.network = network_of(*input.graph, question.batch);
    input.network.name = question.model.path.stem().string();
    input.batch = question.batch > 0 ? question.batch : model_batch(*input.graph);
    return input;
  }
  input.network.name = question.workload.stem().string();
  for (const Workload& workload : read_workloads(question.workload))
    add_layer(input, workload, "workload", question.batch);
  return input;
}

// Timeloop's files give what no file of our own gives: machine, layer, constraints, mapping.
TimeloopImport read_timeloop_files(const MapQuestion& question, MapRequest& request) {
  TimeloopImport imported = read_timeloop(question.timeloop);
  for (const Diagnostic& note : imported.notes) {
    if (question.note) question.note(note);
  }
  if (question.hardware.empty()) {
    if (!imported.hardware)
      refuse("the Timeloop files contain no architecture", "add its file, or --hardware");
    request.hardware = *imported.hardware;
  }
  const bool own_layers = !question.model.path.empty() || !question.workload.empty();
  if (imported.mapspace && question.hardware.empty() && !own_layers) {
    request.constraints = [mapspace = *imported.mapspace](const Workload& workload) {
      Mapspace same = mapspace;
      same.workload = workload;
      return same;
    };
  }
  return imported;
}

// Layers of a workload file are a chain in the order of the file.
std::vector<std::vector<int>> chains_of(const MapInput& input) {
  if (input.graph) return layer_chains(*input.graph, input.network);
  std::vector<int> all;
  for (size_t layer = 0; layer < input.network.layers.size(); ++layer) all.push_back(int(layer));
  return {all};
}

// What is searched on the request's hardware, and for how long.
void set_search(const MapQuestion& question, MapRequest& request) {
  request.imperfect = question.imperfect;
  Diagnostics problems;
  request.mapper.objective = choose<MapObjective>(
      "objective", question.objective,
      {{"energy", MapObjective::kEnergy}, {"latency", MapObjective::kLatency}, {"edp", MapObjective::kEdp}},
      problems);
  if (question.max_cycles > 0) request.mapper.max_cycles = question.max_cycles;
  // Each search has an equal part of the time.
  const int searches = 1 + int(question.pareto) + int(!question.pareto_buffer.empty()) + int(question.fuse);
  request.mapper.time_limit_s = question.time_s / double(searches);
  request.mapper.threads = question.threads;
  request.rules = rules_of(question, problems);
  problems.raise_if_any();
  if (is_constraint_file(question.dataflow)) {
    request.constraints = constraint_rule(question.dataflow, request.hardware);
    request.dataflow = std::filesystem::path(question.dataflow).stem().string();
  }
}

// What searches add to the table and to the document.
void add_section(MapAnswer& answer, const std::string& name, const std::string& table,
                 const std::string& json) {
  answer.more += "\n" + table;
  answer.sections[name] = json;
}

void add_fronts(const MapQuestion& question, const MapRequest& request, MapAnswer& answer) {
  const NetworkReport& report = answer.report;
  if (question.pareto) {
    answer.fronts = map_fronts(report, request, question.progress);
    add_section(answer, "front", front_text(*answer.fronts, report), front_json(*answer.fronts));
  }
  if (!question.pareto_buffer.empty()) {
    const BufferFronts buffer = map_buffer_fronts(report, request, question.pareto_buffer, question.progress);
    add_section(answer, "buffer_fronts", buffer_front_text(buffer, report),
                buffer_front_json(buffer, report));
  }
}

void add_simulation(const MapQuestion& question, MapAnswer& answer) {
  const NetworkReport& report = answer.report;
  const RowStationaryChip chip = find_row_stationary_chip(question.hardware, question.folders.hardware);
  const Deadline none;
  const ChipTimes times = simulate_on_chip(report, report.runs.front(), chip,
                                           question.deadline != nullptr ? *question.deadline : none);
  add_section(answer, "simulation", chip_times_text(times, report, report.runs.front()),
              chip_times_json(times, report));
}

}  // namespace

MapAnswer answer_map(const MapQuestion& question) {
  check_options(question);
  MapRequest request;
  request.mapper.deadline = question.deadline;
  if (!question.hardware.empty()) {
    request.hardware = find_array_hardware(question.hardware, question.folders.hardware);
  }
  TimeloopImport imported;
  if (!question.timeloop.empty()) imported = read_timeloop_files(question, request);
  std::optional<Baseline> baseline;
  if (!question.baseline.empty()) baseline = read_baseline(question.baseline);
  std::optional<MappingCache> cache;
  if (!question.cache.empty()) cache.emplace(question.cache, question.tool_version);
  request.cache = cache ? &*cache : nullptr;
  set_search(question, request);
  MapInput input = read_input(question, imported);
  request.batch = input.batch;
  std::vector<std::vector<int>> chains;
  if (question.fuse) chains = chains_of(input);

  MapAnswer answer;
  answer.hardware = request.hardware;
  NetworkReport& report = answer.report;
  if (!question.mapping.empty() || imported.mapping) {
    const MappingFile file = !question.mapping.empty()
                                 ? read_mapping_file(question.mapping)
                                 : MappingFile{"the Timeloop mapping",
                                               {{"", print_mapping(*imported.workload, *imported.mapping)}}};
    report = evaluate_mappings(std::move(input.network), request, file);
  } else if (!question.dataflow.empty() && !request.constraints) {
    const auto dataflows = find_dataflows(split(question.dataflow), question.folders.dataflows);
    report = map_dataflows(std::move(input.network), request, dataflows, question.equal_area);
    if (question.unions) {
      const UnionTable table = map_unions(report, request, dataflows);
      add_section(answer, "unions", union_text(table, report), union_json(table, report));
    }
  } else {
    report = map_network(std::move(input.network), request, question.progress);
  }
  add_fronts(question, request, answer);
  if (question.simulate) add_simulation(question, answer);
  if (question.fuse) {
    const FusionReport fusion = map_fused(report, request, chains, [&](int chain, int count) {
      if (question.progress) question.progress({"chain of layers", chain, count});
    });
    add_section(answer, "fusion", fusion_text(fusion, report), fusion_json(fusion, report));
  }
  if (baseline) {
    const BaselineComparison comparison = compare_with_baseline(report, *baseline);
    add_section(answer, "comparison", comparison_text(comparison, *baseline),
                comparison_json(comparison, *baseline));
  }
  if (cache) {
    answer.cache_hits = cache->hits();
    answer.cache_misses = cache->misses();
    answer.cache_warnings = cache->warnings();
  }
  return answer;
}

}  // namespace tilewright
