// The graph and the fabric are embedded in their own formats, so that one file holds a whole program.
#include "tilewright/cgra/problem/mapping_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/yaml.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/problem/store_order.h"

namespace tilewright::cgra {
namespace {

using Json = nlohmann::json;
constexpr const char* kKind = "mapped program";
constexpr std::array kStarters = {"off", "roots", "flows"};
constexpr std::array kDelays = {"none", "bounded", "unbounded"};
constexpr int kMostClock = 1 << 28, kMostTiles = 1 << 16;
constexpr size_t kMostMappingBytes = size_t{1} << 27;

nlohmann::ordered_json json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& entry : node) object[entry.first.Scalar()] = json_of(entry.second);
    return object;
  }
  if (node.IsSequence()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const YAML::Node& entry : node) list.push_back(json_of(entry));
    return list;
  }
  if (node.Tag() == "!") return node.Scalar();  // in quotes
  int64_t number = 0;
  if (YAML::convert<int64_t>::decode(node, number)) return number;
  if (node.Scalar() == "true" || node.Scalar() == "false") return node.Scalar() == "true";
  return node.Scalar();
}

// `text` of several lines as the value of a field: its later lines move in.
std::string indented(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

std::string print_places(const MappedProgram& program) {
  std::vector<std::string> lines;
  for (size_t node = 0; node < program.mapping.places.size(); ++node) {
    const Place& place = program.mapping.places[node];
    lines.push_back(fmt::format("{{\"node\": {}, \"tile\": {}, \"time\": {}}}",
                                ascii_json_quoted(program.problem.graph.nodes[node].name), place.tile,
                                place.time));
  }
  return fmt::format("{}", fmt::join(lines, ",\n    "));
}

std::string print_routes(const MappedProgram& program) {
  const std::vector<Edge> edges = program.problem.graph.edges();
  std::vector<std::string> lines;
  for (size_t i = 0; i < program.mapping.routes.size(); ++i) {
    std::vector<std::string> steps;
    for (const RouteStep& step : program.mapping.routes[i])
      steps.push_back(fmt::format("[{}, {}]", step.tile, step.clock));
    lines.push_back(fmt::format("{{\"to\": {}, \"operand\": {}, \"steps\": [{}]}}",
                                ascii_json_quoted(program.problem.graph.nodes[edges[i].to].name),
                                edges[i].operand, fmt::join(steps, ", ")));
  }
  return fmt::format("{}", fmt::join(lines, ",\n    "));
}

class ProgramReader {
 public:
  ProgramReader(const Json& document, const std::string& source) : document_(document), source_(source) {}

  MappedProgram run() {
    JsonMap map(document_, source_, diagnostics_);
    if (map.text("kind") != kKind) map.error("kind", fmt::format("is not '{}'", kKind));
    parts(map);
    rules(map);
    problem().ii = int(map.integer("ii", 1, kMostTiles));
    program_.mapping.ii = problem().ii;
    const int64_t makespan = map.integer("makespan_cycles", 0, kMostClock);
    program_.lower_bound_cycles = int(map.integer("lower_bound_cycles", 0, kMostClock, 0));
    places(map);
    routes(map);
    map.finish();
    diagnostics_.raise_if_any();
    problem().verify(diagnostics_);
    diagnostics_.raise_if_any(source_);
    MappingProblem judged = problem();
    judged.rules.routed =
        judged.rules.routed || !program_.mapping.routes.empty();  // routes that are there count
    for (const Violation& violation : check_mapping(judged, program_.mapping))
      diagnostics_.error(ErrorKind::kInvalidInput, source_, rule_name(violation.rule), violation.text,
                         "the mapping breaks a rule of its fabric");
    for (const Violation& violation : check_store_order(problem(), program_.mapping))
      diagnostics_.error(ErrorKind::kInvalidInput, source_, rule_name(violation.rule), violation.text,
                         "stores that may meet keep the order of the program");
    const int own = makespan_cycles(program_.mapping, problem().fabric.operation_latency_cycles);
    if (makespan != own)
      map.error("makespan_cycles", fmt::format("is {}, that of the places is {}", makespan, own));
    if (program_.lower_bound_cycles > own)
      map.error("lower_bound_cycles",
                fmt::format("is {}, the mapping takes {}", program_.lower_bound_cycles, own));
    diagnostics_.raise_if_any();
    return std::move(program_);
  }

 private:
  MappingProblem& problem() { return program_.problem; }
  void parts(JsonMap& map);
  void rules(JsonMap& map);
  void places(JsonMap& map);
  void routes(JsonMap& map);
  template <size_t N>
  int choice(JsonMap& map, const char* field, const std::array<const char*, N>& names);
  int node(JsonMap& map, const char* field);

  const Json& document_;
  const std::string& source_;
  Diagnostics diagnostics_;
  MappedProgram program_;
  std::map<std::string, int> nodes_;
};

// Both have readers of their own; what those throw joins the list.
void ProgramReader::parts(JsonMap& map) {
  const Json *graph = map.child("graph"), *fabric = map.child("fabric");
  if (!graph) map.error("graph", "missing field");
  if (!fabric) map.error("fabric", "missing field");
  if (fabric) {
    try {
      problem().fabric = parse_fabric(json_text(*fabric), source_ + ": fabric");
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(diagnostic);
    }
  }
  if (!graph) return;
  const GraphFile file = parse_graph_json(json_text(*graph), source_ + ": graph",
                                          fabric ? problem().fabric.operands : kUsualOperands, diagnostics_);
  problem().graph = file.graph;
  problem().fixed_tiles = file.fixed_tiles;
  problem().fixed_times = file.fixed_times;
  for (size_t i = 0; i < problem().graph.nodes.size(); ++i)
    nodes_.try_emplace(problem().graph.nodes[i].name, int(i));
}

template <size_t N>
int ProgramReader::choice(JsonMap& map, const char* field, const std::array<const char*, N>& names) {
  const std::string text = map.text(field);
  for (size_t i = 0; i < N; ++i) {
    if (text == names[i]) return int(i);
  }
  if (!text.empty())
    map.error(field, fmt::format("'{}' is not known", text), fmt::format("{}", fmt::join(names, ", ")));
  return 0;
}

void ProgramReader::rules(JsonMap& map) {
  const Json* given = map.child("rules");
  if (!given) return map.error("rules", "missing field");
  JsonMap fields(*given, source_ + ": rules", diagnostics_);
  Rules& rules = problem().rules;
  rules.starters_apart = StarterRule(choice(fields, "starters_apart", kStarters));
  rules.siblings_apart = fields.boolean("siblings_apart");
  rules.variables_together = fields.boolean("variables_together");
  rules.delay = Delay(choice(fields, "delay", kDelays));
  rules.delay_per_hop = int(fields.integer("delay_per_hop", 0, kMostTiles, rules.delay_per_hop));
  rules.routed = fields.boolean("routed");
  fields.finish();
}

int ProgramReader::node(JsonMap& map, const char* field) {
  const std::string name = map.text(field);
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) return found->second;
  if (!name.empty()) map.error(field, fmt::format("'{}' is not a node of the graph", name));
  return -1;
}

void ProgramReader::places(JsonMap& map) {
  const Json* list = map.list("places");
  std::vector<uint8_t> placed(nodes_.size(), 0);
  program_.mapping.places.resize(problem().graph.nodes.size());
  for (size_t i = 0; list && i < list->size(); ++i) {
    JsonMap entry((*list)[i], fmt::format("{}: place {}", source_, i), diagnostics_);
    const int at = node(entry, "node");
    const Place place{int(entry.integer("tile", 0, kMostTiles)), int(entry.integer("time", 0, kMostClock))};
    entry.finish();
    if (at < 0 || size_t(at) >= placed.size()) continue;
    if (placed[size_t(at)]) entry.error("node", "has two places");
    placed[size_t(at)] = 1;
    program_.mapping.places[size_t(at)] = place;
  }
  for (const auto& [name, index] : nodes_) {
    if (size_t(index) < placed.size() && !placed[size_t(index)])
      map.error("places", fmt::format("none of '{}'", name));
  }
}

void ProgramReader::routes(JsonMap& map) {
  const Json* list = map.list("routes");
  if (!list) return;
  std::map<std::pair<int, int>, size_t> edge_of;
  const std::vector<Edge> edges = problem().graph.edges();
  for (size_t i = 0; i < edges.size(); ++i) edge_of[{edges[i].to, edges[i].operand}] = i;
  program_.mapping.routes.resize(edges.size());
  for (size_t i = 0; i < list->size(); ++i) {
    JsonMap entry((*list)[i], fmt::format("{}: route {}", source_, i), diagnostics_);
    const int to = node(entry, "to"), operand = int(entry.integer("operand", 0, kMostTiles));
    const Json* steps = entry.list("steps");
    Route route;
    for (size_t j = 0; steps && j < steps->size(); ++j) {
      const Json& step = (*steps)[j];
      const bool pair = step.is_array() && step.size() == 2;
      const auto tile = pair ? json_integer(step[0], 0, kMostTiles) : std::nullopt;
      const auto clock = pair ? json_integer(step[1], -kMostClock, kMostClock) : std::nullopt;
      if (tile && clock) route.push_back({int(*tile), int(*clock)});
      if (!tile || !clock) entry.error("steps", fmt::format("entry {} is not a tile and a clock", j));
    }
    entry.finish();
    const auto edge = edge_of.find({to, operand});
    if (edge != edge_of.end()) program_.mapping.routes[edge->second] = std::move(route);
    if (edge == edge_of.end() && to >= 0)
      entry.error("operand", fmt::format("operand {} is not a node's value", operand));
  }
}

}  // namespace

std::string print_mapped_program(const MappedProgram& program) {
  const MappingProblem& problem = program.problem;
  const Rules& rules = problem.rules;
  const std::string fabric = json_of(YAML::Load(print_fabric(problem.fabric))).dump(2);
  const GraphFile graph{problem.graph, problem.fixed_tiles, problem.fixed_times};
  std::string text = fmt::format("{{\n  \"kind\": \"{}\",\n  \"graph\": {},\n  \"fabric\": {},\n", kKind,
                                 indented(print_graph_json(graph)), indented(fabric));
  text += fmt::format(
      "  \"rules\": {{\"starters_apart\": \"{}\", \"siblings_apart\": {}, \"variables_together\": {}, "
      "\"delay\": \"{}\", \"delay_per_hop\": {}, \"routed\": {}}},\n",
      kStarters[size_t(rules.starters_apart)], rules.siblings_apart, rules.variables_together,
      kDelays[size_t(rules.delay)], rules.delay_per_hop, rules.routed);
  text += fmt::format("  \"ii\": {},\n  \"makespan_cycles\": {},\n  \"lower_bound_cycles\": {},\n",
                      problem.ii, makespan_cycles(program.mapping, problem.fabric.operation_latency_cycles),
                      program.lower_bound_cycles);
  text += fmt::format("  \"places\": [\n    {}\n  ]", print_places(program));
  if (!program.mapping.routes.empty())
    text += fmt::format(",\n  \"routes\": [\n    {}\n  ]", print_routes(program));
  return text + "\n}\n";
}

MappedProgram parse_mapped_program(const std::string& text, const std::string& source_name) {
  const Json document = parse_json(text, source_name);
  return ProgramReader(document, source_name).run();
}

MappedProgram read_mapped_program(const std::filesystem::path& path) {
  return parse_mapped_program(read_text_file(path, kMostMappingBytes), path.string());
}

bool is_mapped_program(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  return document.is_object() && document.contains("kind") && document["kind"] == kKind;
}

}  // namespace tilewright::cgra
