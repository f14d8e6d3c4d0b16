// Values and sinks from edges and places.
#include "tilewright/cgra/route/routing_task.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace tilewright::cgra {

RoutingFabric compile_routing_fabric(const Fabric& fabric, const Deadline* deadline) {
  RoutingFabric made;
  made.tiles = fabric.tiles();
  made.links = fabric_links(fabric);
  made.leaving.resize(made.tiles);
  made.entering.resize(made.tiles);
  for (size_t link = 0; link < made.links.size(); ++link) {
    made.leaving[made.links[link].from].push_back(int(link));
    made.entering[made.links[link].to].push_back(int(link));
  }
  made.transfer = transfer_cycles(fabric, deadline);
  made.hops = fabric.cycles_per_distance == 0 ? fabric.hops_per_cycle : 0;
  made.pass_through = fabric.pass_through;
  made.delay_registers = fabric.delay_registers;
  return made;
}

RoutingTask make_routing_task(const MappingProblem& problem, const RoutingFabric& fabric,
                              const GraphMapping& mapping) {
  RoutingTask task{.fabric = fabric, .ii = problem.ii, .edges = problem.graph.edges()};
  // producer -> (clock, tile) of a sink -> edges
  std::map<int, std::map<std::pair<int, int>, std::vector<int>>> sinks;
  for (size_t edge = 0; edge < task.edges.size(); ++edge) {
    const auto& [from, to, operand, distance] = task.edges[edge];
    const int clock = mapping.places[to].time + distance * problem.ii;
    sinks[from][{clock, mapping.places[to].tile}].push_back(int(edge));
  }
  for (const auto& [producer, reads] : sinks) {
    const Place place = mapping.places[producer];
    RoutedValue value{.producer = producer,
                      .source = {place.tile, place.time + problem.fabric.operation_latency_cycles}};
    for (const auto& [where, edges] : reads) value.sinks.push_back({{where.second, where.first}, edges});
    value.last_clock = std::max(value.source.clock, value.sinks.back().at.clock);
    task.values.push_back(std::move(value));
  }
  return task;
}

bool RoutingTask::countable() const {
  const double levels = fabric.hops + 1;
  const double each_clock = levels * (double(fabric.links.size()) + 2.0 * fabric.tiles);
  return std::all_of(values.begin(), values.end(), [&](const RoutedValue& value) {
    return (double(value.last_clock) - value.source.clock + 1) * each_clock < std::numeric_limits<int>::max();
  });
}

}  // namespace tilewright::cgra
