// The report of `place` as a page: IIs against schedules, where every operation runs, and which links carry
// its value.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/place/place.h"

namespace tilewright {
namespace {

std::string tile_text(const Fabric& fabric, int tile) {
  return fabric.rows == 1
             ? fmt::format("tile {}", tile)
             : fmt::format("tile {} ({},{})", tile, tile / fabric.columns, tile % fabric.columns);
}

std::string point_answer(const PlacePoint& point) {
  const cgra::MappingResult& result = point.result;
  if (!result.mapping)
    return result.status == SearchStatus::kInfeasible ? "impossible, proven" : "none found";
  if (result.status == SearchStatus::kOptimal) return "shortest, proven";
  return result.lower_bound > 0 ? fmt::format("at least {} clocks", result.lower_bound) : "no bound";
}

PageSection point_section(const PlaceReport& report) {
  PageSection section{
      .id = "points",
      .title = "Initiation intervals",
      .note = "A new iteration starts every II clocks; a schedule is the clocks of one iteration.",
      .subject = "II",
      .subject_column = "name",
      .columns = {{"name", "point"},
                  {"ii", "II", "clocks", PageBetter::kLess},
                  {"makespan", "schedule", "clocks", PageBetter::kLess},
                  {"answer", "answer"},
                  {"routes", "routes"},
                  {"seconds", "searched for", "s"},
                  {"front", "on the front", "yes/no"},
                  {"note", "note", "", PageBetter::kNeither, true}}};
  for (const PlacePoint& point : report.points) {
    section.rows.push_back({fmt::format("II {}", point.ii), point.ii,
                            point.result.mapping ? PageValue(point.result.makespan) : PageValue(),
                            point_answer(point),
                            !point.result.mapping ? ""
                            : point.routed        ? "found"
                                                  : "none",
                            point.result.seconds, point.on_front ? 1 : 0,
                            point.result.conflict ? point.result.conflict->text : point.note});
  }
  section.charts = {{.kind = PageChartKind::kStairs,
                     .title = "Schedule against initiation interval",
                     .caption = "Faint marks: mapped, but an earlier interval has a schedule as short.",
                     .columns = {{"x", "ii"}, {"y", "makespan"}, {"front", "front"}}}};
  return section;
}

PageSection operation_section(const cgra::MappedProgram& program) {
  const cgra::MappingProblem& problem = program.problem;
  PageSection section{.id = "operations",
                      .title = "Operations",
                      .subject = "operation",
                      .subject_column = "node",
                      .columns = {{"node", "node"},
                                  {"operation", "operation"},
                                  {"flow", "flow"},
                                  {"tile", "tile"},
                                  {"slot", "slot"},
                                  {"start", "starts", "clocks"},
                                  {"end", "ready", "clocks"},
                                  {"where", "where", "", PageBetter::kNeither, true}}};
  const std::vector<int> flow = problem.graph.flows();
  std::vector<size_t> order(program.mapping.places.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return program.mapping.places[a].time < program.mapping.places[b].time;
  });
  for (const size_t n : order) {
    const cgra::Place& place = program.mapping.places[n];
    const cgra::DataflowNode& node = problem.graph.nodes[n];
    std::string operation(cgra::opcode_facts(node.op).name);
    if (node.then) operation += fmt::format(", {}", cgra::opcode_facts(*node.then).name);
    section.rows.push_back({node.name, operation, fmt::format("flow {}", flow[n]), place.tile,
                            place.time % problem.ii, place.time,
                            place.time + problem.fabric.operation_latency_cycles,
                            tile_text(problem.fabric, place.tile)});
  }
  section.charts = {
      {.kind = PageChartKind::kFabric,
       .title = "What every tile does",
       .caption = "Each picture is the array in one time slot; the slots repeat every II clocks. Arrows are "
                  "values that "
                  "cross a link in that slot.",
       .columns = {{"tile", "tile"}, {"slot", "slot"}, {"colour", "flow"}},
       .values = {{"rows", problem.fabric.rows}, {"columns", problem.fabric.columns}, {"ii", problem.ii}},
       .links = "ways"},
      {.kind = PageChartKind::kTimeline,
       .title = "One iteration over time",
       .columns = {{"lane", "where"}, {"begin", "start"}, {"end", "end"}, {"colour", "flow"}}}};
  return section;
}

PageSection way_section(const cgra::MappedProgram& program) {
  const cgra::MappingProblem& problem = program.problem;
  PageSection section{.id = "ways",
                      .title = "Ways of the values",
                      .note = "A row per link that a value crosses.",
                      .subject = "operation",
                      .subject_column = "value",
                      .columns = {{"value", "value of"},
                                  {"to_node", "used by"},
                                  {"from", "from tile"},
                                  {"to", "to tile"},
                                  {"slot", "slot"},
                                  {"clock", "leaves", "clocks"}}};
  const std::vector<cgra::Edge> edges = problem.graph.edges();
  for (size_t e = 0; e < program.mapping.routes.size(); ++e) {
    const cgra::Route& route = program.mapping.routes[e];
    for (size_t step = 1; step < route.size(); ++step) {
      const cgra::RouteStep &a = route[step - 1], &b = route[step];
      if (a.tile == b.tile) continue;
      const int slot = (a.clock % problem.ii + problem.ii) % problem.ii;
      section.rows.push_back({problem.graph.nodes[size_t(edges[e].from)].name,
                              problem.graph.nodes[size_t(edges[e].to)].name, a.tile, b.tile, slot, a.clock});
    }
  }
  return section;
}

}  // namespace

Page place_page(const PlaceRequest& request, const PlaceReport& report) {
  const cgra::MappingProblem& problem = request.problem;
  Page page{.verb = "place", .title = problem.graph.name + " on " + problem.fabric.name};
  page.subtitle = fmt::format(
      "{}, {} tiles", request.objective == PlaceObjective::kIi ? "least II" : "method " + request.method.name,
      problem.fabric.tiles());
  page.facts = {{"operations", "operations", problem.graph.nodes.size()},
                {"tiles", "tiles", problem.fabric.tiles()}};
  page.sections = {point_section(report)};
  if (report.best < 0) {
    page.notes = {"There is no mapping."};
    return page;
  }
  const PlacePoint& best = report.points[size_t(report.best)];
  const cgra::MappedProgram program = mapped_program(request, best);
  const auto used = double(problem.graph.nodes.size()) / (double(best.ii) * double(problem.fabric.tiles()));
  page.facts.insert(page.facts.begin(),
                    {{"ii", "II", best.ii, "clocks", PageBetter::kLess},
                     {"makespan", "schedule", best.result.makespan, "clocks", PageBetter::kLess},
                     {"answer", "answer", point_answer(best)},
                     {"routes", "routes", best.routed ? "found" : "none"}});
  page.facts.push_back({"slots_used", "of all slots used", used, "%"});
  if (!best.routed && !best.note.empty()) page.notes.push_back("Without routes: " + best.note);
  page.sections.insert(page.sections.begin(), operation_section(program));
  if (best.routed) page.sections.push_back(way_section(program));
  return page;
}

}  // namespace tilewright
