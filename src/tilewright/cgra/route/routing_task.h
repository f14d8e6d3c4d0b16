// The input of routing: the fabric's links by tile, and every value with its source and its readers.
#pragma once

#include <vector>

#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

struct RoutingFabric {
  int tiles = 0;
  std::vector<FabricLink> links;          // fabric_links()
  std::vector<std::vector<int>> leaving;  // per tile: link ids
  std::vector<std::vector<int>> entering;
  std::vector<std::vector<int>> transfer;  // transfer_cycles(); -1: no way
  int hops = 0;                            // links within a clock; 0: links take clocks
  int pass_through = 0;                    // per tile and slot; 0: no limit
  int delay_registers = 0;                 // per tile and slot

  // Whether a value at `from` can be at `to` `cycles` later, whatever else travels.
  bool reaches(int from, int to, int cycles) const {
    return transfer[from][to] >= 0 && transfer[from][to] <= cycles;
  }
};

// `fabric` has been verified. Throws Expired when the time of `deadline`, if any, is over.
RoutingFabric compile_routing_fabric(const Fabric& fabric, const Deadline* deadline = nullptr);

struct RouteSink {
  RouteStep at;
  std::vector<int> edges;  // that read the value here, ids in DataflowGraph::edges()
};

// A producer's result and everything that reads it.
struct RoutedValue {
  int producer = 0;
  RouteStep source;
  std::vector<RouteSink> sinks;  // by clock, then tile
  int last_clock = 0;            // of the sinks
};

struct RoutingTask {
  RoutingFabric fabric;
  int ii = 1;
  std::vector<Edge> edges;          // DataflowGraph::edges()
  std::vector<RoutedValue> values;  // only those that are read

  // Whether every value's places and steps over all its clocks can be numbered by int, as both routers do.
  bool countable() const;
};

// `mapping` has a place on the fabric for every node; its routes are not looked at.
RoutingTask make_routing_task(const MappingProblem& problem, const RoutingFabric& fabric,
                              const GraphMapping& mapping);

}  // namespace tilewright::cgra
