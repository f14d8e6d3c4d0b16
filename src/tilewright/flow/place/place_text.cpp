// The report of `place` as tables and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/place/place.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

using cgra::MappingResult;

std::string answer(const PlacePoint& point) {
  const MappingResult& result = point.result;
  if (!result.mapping) return result.status == SearchStatus::kInfeasible ? "impossible" : "none found";
  if (result.status == SearchStatus::kOptimal) return "proven";
  return result.lower_bound > 0 ? fmt::format("at least {}", result.lower_bound) : "no bound";
}

std::string remark(const PlacePoint& point) {
  if (point.result.conflict) return point.result.conflict->text;
  return point.note;
}

std::string points_text(const PlaceReport& report) {
  TextTable table({">II", ">makespan", "", "routes", ">seconds", "front", "proof", ""});
  for (const PlacePoint& point : report.points) {
    table.row({std::to_string(point.ii), point.result.mapping ? std::to_string(point.result.makespan) : "-",
               answer(point),
               !point.result.mapping ? ""
               : point.routed        ? "found"
                                     : "none",
               fmt::format("{:.3f}", point.result.seconds), point.on_front ? "*" : "", point.proof,
               shortened_middle(remark(point), 100)});
  }
  return table.to_string();
}

// The edges of a graph, and which of them end at a node.
struct Arrivals {
  explicit Arrivals(const cgra::DataflowGraph& graph) : edges(graph.edges()), entering(graph.nodes.size()) {
    for (size_t i = 0; i < edges.size(); ++i) entering[size_t(edges[i].to)].push_back(i);
  }
  const std::vector<size_t>& at(int node) const { return entering[size_t(node)]; }
  std::vector<cgra::Edge> edges;
  std::vector<std::vector<size_t>> entering;
};

// The waits of a node's operands, from their earliest arrival.
std::string waits_text(const cgra::MappedProgram& program, int node, const Arrivals& arrivals,
                       const std::vector<std::vector<int>>& transfer) {
  const cgra::MappingProblem& problem = program.problem;
  std::vector<std::string> parts;
  for (const size_t i : arrivals.at(node)) {
    const cgra::Edge& edge = arrivals.edges[i];
    const cgra::Place &from = program.mapping.places[size_t(edge.from)],
                      &to = program.mapping.places[size_t(node)];
    const int arrival =
        from.time + problem.fabric.operation_latency_cycles + transfer[size_t(from.tile)][size_t(to.tile)];
    const int wait = to.time + edge.distance * problem.ii - arrival;
    if (wait > 0) parts.push_back(fmt::format("{} {}", problem.graph.nodes[size_t(edge.from)].name, wait));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ways_text(const cgra::MappedProgram& program, int node, const Arrivals& arrivals) {
  std::vector<std::string> parts;
  if (program.mapping.routes.empty()) return "";
  for (const size_t i : arrivals.at(node)) {
    std::vector<int> tiles;
    for (const cgra::RouteStep& step : program.mapping.routes[i]) {
      if (tiles.empty() || tiles.back() != step.tile) tiles.push_back(step.tile);
    }
    if (tiles.size() > 1) parts.push_back(fmt::format("{}", fmt::join(tiles, ">")));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string operation_text(const cgra::DataflowNode& node) {
  std::string text(cgra::opcode_facts(node.op).name);
  if (node.then) text += fmt::format(" {}", cgra::opcode_facts(*node.then).name);
  return text;
}

std::string places_text(const cgra::MappedProgram& program) {
  const auto transfer = transfer_cycles(program.problem.fabric);
  const std::vector<int> flow = program.problem.graph.flows();
  const Arrivals arrivals(program.problem.graph);
  TextTable table({"node", "operation", ">flow", ">tile", ">slot", ">start", "operands wait", "ways"});
  std::vector<int> order(program.mapping.places.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return program.mapping.places[size_t(a)].time < program.mapping.places[size_t(b)].time;
  });
  for (const int node : order) {
    const cgra::Place& place = program.mapping.places[size_t(node)];
    const cgra::DataflowNode& given = program.problem.graph.nodes[size_t(node)];
    table.row({shortened_middle(given.name, 24), operation_text(given), std::to_string(flow[size_t(node)]),
               std::to_string(place.tile), std::to_string(place.time % program.problem.ii),
               std::to_string(place.time),
               shortened_middle(waits_text(program, node, arrivals, transfer), 40),
               shortened_middle(ways_text(program, node, arrivals), 40)});
  }
  return table.to_string();
}

nlohmann::ordered_json point_json(const PlaceRequest& request, const PlacePoint& point) {
  const MappingResult& result = point.result;
  nlohmann::ordered_json json = {{"ii", point.ii},
                                 {"status", search_status_name(result.status)},
                                 {"makespan_cycles", nullptr},
                                 {"lower_bound_cycles", result.lower_bound},
                                 {"on_front", point.on_front},
                                 {"routed", point.routed},
                                 {"evaluations", result.counts.evaluations},
                                 {"seconds", result.seconds}};
  if (result.mapping) json["makespan_cycles"] = result.makespan;
  if (!point.proof.empty()) json["proof"] = point.proof;
  if (!point.note.empty()) json["note"] = point.note;
  if (result.conflict) {
    nlohmann::ordered_json conflict = {{"text", result.conflict->text}};
    for (const int node : result.conflict->nodes)
      conflict["nodes"].push_back(request.problem.graph.nodes[size_t(node)].name);
    for (const cgra::Rule rule : result.conflict->rules) conflict["rules"].push_back(cgra::rule_name(rule));
    json["conflict"] = conflict;
  }
  return json;
}

}  // namespace

std::string place_text(const PlaceRequest& request, const PlaceReport& report) {
  const cgra::MappingProblem& problem = request.problem;
  std::string text = fmt::format("{}: {} operations on {} ({} tiles), {}\n\n", problem.graph.name,
                                 problem.graph.nodes.size(), problem.fabric.name, problem.fabric.tiles(),
                                 request.objective == PlaceObjective::kIi ? "least II" : request.method.name);
  text += points_text(report);
  if (report.best < 0) return text;
  const PlacePoint& best = report.points[size_t(report.best)];
  const cgra::MappedProgram program = mapped_program(request, best);
  text += fmt::format("\nII {}, {} clocks, {}:\n", best.ii, best.result.makespan,
                      best.routed         ? "with routes"
                      : best.note.empty() ? "without routes"
                                          : "without routes: " + best.note);
  return text + places_text(program);
}

std::string place_json(const PlaceRequest& request, const PlaceReport& report) {
  nlohmann::ordered_json json = {
      {"graph", request.problem.graph.name},
      {"nodes", request.problem.graph.nodes.size()},
      {"fabric", request.problem.fabric.name},
      {"tiles", request.problem.fabric.tiles()},
      {"method", request.objective == PlaceObjective::kIi ? "kernel" : request.method.name},
      {"stopped_by", nullptr},
      {"points", nlohmann::ordered_json::array()}};
  if (report.ending != Ending::kNone) json["stopped_by"] = ending_name(report.ending);
  for (const PlacePoint& point : report.points) json["points"].push_back(point_json(request, point));
  json["best"] = nullptr;
  if (report.best >= 0) {
    const PlacePoint& best = report.points[size_t(report.best)];
    json["best"] = {{"ii", best.ii}, {"makespan_cycles", best.result.makespan}};
    for (size_t node = 0; node < request.problem.graph.nodes.size(); ++node) {
      const cgra::Place& place = best.result.mapping->places[node];
      json["best"]["places"].push_back(
          {{"node", request.problem.graph.nodes[node].name}, {"tile", place.tile}, {"time", place.time}});
    }
  }
  return json_text(json, 2) + "\n";
}

Error missing_mapping(const PlaceReport& report) {
  bool proven = true;
  std::string reason;
  for (const PlacePoint& point : report.points) {
    proven = proven && point.result.status == SearchStatus::kInfeasible;
    reason = point.result.conflict ? point.result.conflict->text : point.note;
  }
  return Error(ErrorKind::kInfeasible,
               proven ? "no mapping exists" : "no mapping found, but it is not proven that none exists",
               reason);
}

}  // namespace tilewright
