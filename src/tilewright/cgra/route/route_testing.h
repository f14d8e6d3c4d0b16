// Routing by trying every combination of ways, for tests: knows only links and clocks, the checker judges.
#pragma once

#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {

struct Case {
  MappingProblem problem;
  GraphMapping mapping;
};

// Whether no rule about routes is broken.
inline bool routes_hold(const Case& given, const std::vector<Route>& routes) {
  GraphMapping mapping = given.mapping;
  mapping.routes = routes;
  for (const Violation& violation : check_mapping(given.problem, mapping)) {
    if (violation.rule >= Rule::kRoute) return false;
  }
  return true;
}

// Both families, with little room.
inline Fabric random_fabric(Random& random) {
  Fabric fabric;
  fabric.name = "random";
  const bool within_clock = random.chance(0.4);
  if (within_clock && random.chance(0.5)) {
    fabric.rows = fabric.columns = 2;
  } else {
    fabric.columns = int(random.between(1, 3));
    if (fabric.columns == 3 && random.chance(0.5)) fabric.spans = {1, 2};
  }
  fabric.wrap = random.chance(0.1);
  fabric.cycles_per_distance = within_clock ? 0 : 1;
  fabric.hops_per_cycle = within_clock ? int(random.between(1, 2)) : 1;
  fabric.operation_latency_cycles = int(random.between(1, 2));
  fabric.pass_through = int(random.between(0, 1));
  fabric.delay_registers = int(random.between(0, 2));
  return fabric;
}

// All ways of one edge, in time and space.
inline void extend(const Case& given, Route& route, RouteStep end, int hops, std::vector<Route>& ways) {
  if (ways.size() > 200) return;
  const RouteStep at = route.back();
  if (at == end) ways.push_back(route);
  if (at.clock > end.clock) return;
  const bool within_clock = given.problem.fabric.cycles_per_distance == 0;
  for (const FabricLink& link : fabric_links(given.problem.fabric)) {
    if (link.from != at.tile || (within_clock && hops == given.problem.fabric.hops_per_cycle)) continue;
    route.push_back({link.to, at.clock + link.cycles});
    extend(given, route, end, hops + 1, ways);
    route.pop_back();
  }
  route.push_back({at.tile, at.clock + 1});
  extend(given, route, end, 0, ways);
  route.pop_back();
}

// Whether any combination holds; -1: too many to try.
inline int routable(const Case& given) {
  const std::vector<Edge> edges = given.problem.graph.edges();
  std::vector<std::vector<Route>> ways(edges.size());
  size_t combinations = 1;
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    const Place from = given.mapping.places[edges[edge].from], to = given.mapping.places[edges[edge].to];
    Route route{{from.tile, from.time + given.problem.fabric.operation_latency_cycles}};
    extend(given, route, {to.tile, to.time + edges[edge].distance * given.problem.ii}, 0, ways[edge]);
    combinations *= ways[edge].size();
    if (combinations > 1500 || ways[edge].size() > 200) return -1;
  }
  std::vector<Route> routes(edges.size());
  for (size_t index = 0; index < combinations; ++index) {
    size_t rest = index;
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      routes[edge] = ways[edge][rest % ways[edge].size()];
      rest /= ways[edge].size();
    }
    if (routes_hold(given, routes)) return 1;
  }
  return 0;
}

}  // namespace tilewright::cgra
