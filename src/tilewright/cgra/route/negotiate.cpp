// Negotiated congestion (PathFinder; McMurchie, Ebeling, FPGA 1995) over the time-expanded fabric. Each value
// grows a tree from its source, sink by sink; a step costs more the more other values use its link, register
// or passing way now (pressure, growing by the round) and the more often it was overused before (history).
// What the value's own tree uses already at that clock is free. Rounds reroute the values on overused
// resources until there are none.
#include "tilewright/cgra/route/negotiate.h"

#include <algorithm>
#include <limits>

namespace tilewright::cgra {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr double kPassCost = 0.5;  // of a link's cost
constexpr double kPressureGrowth = 1.6;
constexpr double kHistoryStep = 0.4;

struct Tree {
  enum : int { kOutside = -1, kRoot = -2 };
  std::vector<int> parent;      // per state
  std::vector<int> resources;   // occupied, once per clock
  std::vector<uint8_t> taken;   // per own step: occupied already
  std::vector<int> sink_state;  // per sink
};

class Negotiator {
 public:
  Negotiator(const RoutingTask& task, const Deadline* deadline)
      : task_(task), fabric_(task.fabric), deadline_(deadline), trees_(task.values.size()) {
    const size_t links = fabric_.links.size(), tiles = size_t(fabric_.tiles);
    use_.assign((links + 2 * tiles) * task.ii, 0);
    history_.assign(use_.size(), 0);
    room_.assign(use_.size(), 1);
    const int most_passing =
        fabric_.pass_through == 0 ? std::numeric_limits<int>::max() : fabric_.pass_through;
    for (size_t i = links * task.ii; i < use_.size(); ++i) {
      room_[i] = i < (links + tiles) * task.ii ? fabric_.delay_registers : most_passing;
    }
  }

  std::optional<std::vector<Route>> run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      bool fits = true;
      for (size_t value = 0; value < trees_.size(); ++value) {
        if (round > 0 && !overused(trees_[value])) continue;
        fits = false;
        if (!grow(int(value))) return std::nullopt;
      }
      if (round > 0 && fits) return routes();
      for (size_t i = 0; i < use_.size(); ++i) {
        if (use_[i] > room_[i]) history_[i] += kHistoryStep * (use_[i] - room_[i]);
      }
      pressure_ *= kPressureGrowth;
    }
    for (const Tree& tree : trees_) {
      if (overused(tree)) return std::nullopt;
    }
    return routes();
  }

 private:
  int levels() const { return fabric_.hops + 1; }
  int state(const RoutedValue& value, int tile, int clock, int hops) const {
    return ((clock - value.source.clock) * levels() + hops) * fabric_.tiles + tile;
  }
  RouteStep where(const RoutedValue& value, int state) const {
    return {state % fabric_.tiles, value.source.clock + state / (fabric_.tiles * levels())};
  }
  // Own steps of a value: its links, then tiles that it waits on, then tiles that it passes, clock by clock.
  int own(const RoutedValue& value, int clock, int kind) const {
    return (clock - value.source.clock) * (int(fabric_.links.size()) + 2 * fabric_.tiles) + kind;
  }
  int resource(int clock, int kind) const {
    return kind * task_.ii + ((clock % task_.ii) + task_.ii) % task_.ii;
  }
  int wait_kind(int tile) const { return int(fabric_.links.size()) + tile; }
  int pass_kind(int tile) const { return int(fabric_.links.size()) + fabric_.tiles + tile; }

  bool overused(const Tree& tree) const {
    return std::any_of(tree.resources.begin(), tree.resources.end(),
                       [&](int resource) { return use_[resource] > room_[resource]; });
  }
  double cost(const RoutedValue& value, const Tree& tree, int clock, int kind) const {
    if (tree.taken[own(value, clock, kind)] != 0) return 0;
    const int at = resource(clock, kind);
    return (1 + history_[at]) * (1 + pressure_ * std::max(0, use_[at] + 1 - room_[at]));
  }
  double link_cost(const RoutedValue& value, const Tree& tree, int clock, int link) const {
    const int from = fabric_.links[link].from;
    double total = cost(value, tree, clock, link);
    if (fabric_.pass_through > 0 && from != value.source.tile)
      total += kPassCost * cost(value, tree, clock, pass_kind(from));
    return total;
  }
  void occupy(const RoutedValue& value, Tree& tree, int clock, int kind) {
    uint8_t& taken = tree.taken[own(value, clock, kind)];
    if (taken != 0) return;
    taken = 1;
    tree.resources.push_back(resource(clock, kind));
    ++use_[tree.resources.back()];
  }
  int link_between(int from, int to) const {
    for (const int link : fabric_.leaving[from]) {
      if (fabric_.links[link].to == to) return link;
    }
    return -1;
  }

  bool grow(int id);
  int search(const RoutedValue& value, const Tree& tree, RouteStep sink);
  void relax(int from, int to, double cost) {
    if (cost >= cost_[to]) return;
    cost_[to] = cost;
    via_[to] = from;
  }
  void join(const RoutedValue& value, Tree& tree, int state);
  std::vector<Route> routes() const;

  const RoutingTask& task_;
  const RoutingFabric& fabric_;
  const Deadline* deadline_;
  std::vector<Tree> trees_;
  std::vector<int> use_, room_;  // per resource: values in it, values it holds
  std::vector<double> history_;
  double pressure_ = 0.5;
  std::vector<double> cost_;  // of the search, per state
  std::vector<int> via_;
};

// Cheapest way from the tree to the sink, by clock and hop; the sink's state, -1 without a way.
int Negotiator::search(const RoutedValue& value, const Tree& tree, RouteStep sink) {
  if (deadline_) deadline_->check();
  cost_.assign(tree.parent.size(), kFar);
  via_.assign(tree.parent.size(), Tree::kOutside);
  for (size_t i = 0; i < tree.parent.size(); ++i) {
    if (tree.parent[i] != Tree::kOutside) cost_[i] = 0;
  }
  for (int clock = value.source.clock; clock <= sink.clock; ++clock) {
    if (deadline_ && fabric_.tiles > 64) deadline_->check();
    for (int hops = 0; hops < levels(); ++hops) {
      for (int tile = 0; tile < fabric_.tiles; ++tile) {
        const int here = state(value, tile, clock, hops);
        if (cost_[here] == kFar || !fabric_.reaches(tile, sink.tile, sink.clock - clock)) continue;
        if (clock < sink.clock && fabric_.delay_registers > 0)
          relax(here, state(value, tile, clock + 1, 0),
                cost_[here] + cost(value, tree, clock, wait_kind(tile)));
        if (fabric_.hops > 0 && hops == fabric_.hops) continue;
        for (const int link : fabric_.leaving[tile]) {
          const int arrival = clock + fabric_.links[link].cycles;
          if (!fabric_.reaches(fabric_.links[link].to, sink.tile, sink.clock - arrival)) continue;
          relax(here, state(value, fabric_.links[link].to, arrival, fabric_.hops > 0 ? hops + 1 : 0),
                cost_[here] + link_cost(value, tree, clock, link));
        }
      }
    }
  }
  int best = -1;
  for (int hops = 0; hops < levels(); ++hops) {
    const int end = state(value, sink.tile, sink.clock, hops);
    if (cost_[end] < kFar && (best < 0 || cost_[end] < cost_[best])) best = end;
  }
  return best;
}

// Adds the way that the search found to `state` to the tree.
void Negotiator::join(const RoutedValue& value, Tree& tree, int state) {
  while (tree.parent[state] == Tree::kOutside) {
    const int before = via_[state];
    tree.parent[state] = before;
    const RouteStep from = where(value, before), to = where(value, state);
    if (from.tile == to.tile) {
      occupy(value, tree, from.clock, wait_kind(from.tile));
    } else {
      occupy(value, tree, from.clock, link_between(from.tile, to.tile));
      if (fabric_.pass_through > 0 && from.tile != value.source.tile)
        occupy(value, tree, from.clock, pass_kind(from.tile));
    }
    state = before;
  }
}

bool Negotiator::grow(int id) {
  const RoutedValue& value = task_.values[id];
  Tree& tree = trees_[id];
  for (const int resource : tree.resources) --use_[resource];
  tree.resources.clear();
  const int clocks = value.last_clock - value.source.clock + 1;
  const double states = double(clocks) * levels() * fabric_.tiles;
  const double steps = double(clocks) * (double(fabric_.links.size()) + 2.0 * fabric_.tiles);
  if (deadline_ && !deadline_->fits(16 * states + steps)) throw Expired();
  tree.parent.assign(size_t(clocks) * levels() * fabric_.tiles, Tree::kOutside);
  tree.taken.assign(own(value, value.source.clock + clocks, 0), 0);
  tree.parent[state(value, value.source.tile, value.source.clock, 0)] = Tree::kRoot;
  tree.sink_state.clear();
  for (const RouteSink& sink : value.sinks) {
    if (sink.at.clock < value.source.clock) return false;
    const int end = search(value, tree, sink.at);
    if (end < 0) return false;
    join(value, tree, end);
    tree.sink_state.push_back(end);
  }
  return true;
}

std::vector<Route> Negotiator::routes() const {
  std::vector<Route> all(task_.edges.size());
  for (size_t id = 0; id < trees_.size(); ++id) {
    const RoutedValue& value = task_.values[id];
    for (size_t sink = 0; sink < value.sinks.size(); ++sink) {
      Route route;
      for (int at = trees_[id].sink_state[sink]; at != Tree::kRoot; at = trees_[id].parent[at])
        route.push_back(where(value, at));
      std::reverse(route.begin(), route.end());
      for (const int edge : value.sinks[sink].edges) all[edge] = route;
    }
  }
  return all;
}

}  // namespace

std::optional<std::vector<Route>> negotiate_routes(const RoutingTask& task, int rounds,
                                                   const Deadline* deadline) {
  return Negotiator(task, deadline).run(rounds);
}

}  // namespace tilewright::cgra
