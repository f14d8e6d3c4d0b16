// A mapping of a dataflow graph onto a fabric: where and when every operation starts and, in the routed tier,
// how every value travels.
#pragma once

#include <vector>

namespace tilewright::cgra {

// An operation of thread 0 starts on `tile` at clock `time`; thread k at time + k * II.
struct Place {
  int tile = 0, time = 0;
  bool operator==(const Place&) const = default;
};

// A value is at `tile` at `clock` (of the producer's thread 0). Between two steps it stays for one clock
// (same tile: a delay register of that tile, slot clock mod II) or crosses one link (other tile: the link is
// taken at the slot of the clock of departure; it arrives link.cycles later, 0 within the clock).
struct RouteStep {
  int tile = 0, clock = 0;
  bool operator==(const RouteStep&) const = default;
};

// From {tile of the producer, its start + operation latency} to {tile of the consumer, its start + distance *
// II}.
using Route = std::vector<RouteStep>;

struct GraphMapping {
  int ii = 1;
  std::vector<Place> places;  // per node
  std::vector<Route> routes;  // per edge of DataflowGraph::edges(); empty in the placement tier
  bool operator==(const GraphMapping&) const = default;
};

// max(start) + operation latency: clocks until the last result of one thread, times counted from 0.
int makespan_cycles(const GraphMapping& mapping, int operation_latency_cycles);

}  // namespace tilewright::cgra
