// The checker. Every rule is read from the problem directly (not from the compiled model), in its plainest
// form, so that a mistake in a mapper's view of the rules cannot hide here.
#include "tilewright/cgra/problem/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tilewright::cgra {
namespace {

class Checker {
 public:
  Checker(const MappingProblem& problem, const GraphMapping& mapping)
      : problem_(problem), mapping_(mapping), edges_(problem.graph.edges()) {}

  std::vector<Violation> run() {
    if (!shape()) return std::move(found_);
    slots();
    timing();
    tiles();
    storage();
    if (problem_.rules.routed) routes();
    std::stable_sort(found_.begin(), found_.end(), [](const Violation& a, const Violation& b) {
      return std::tie(a.rule, a.nodes) < std::tie(b.rule, b.nodes);
    });
    return std::move(found_);
  }

 private:
  // (from tile, to tile, slot) -> (producer, clock) of the values on that link; to tile = -1: on the tile
  // itself.
  using Users = std::map<std::tuple<int, int, int>, std::set<std::pair<int, int>>>;

  void add(Rule rule, std::vector<int> nodes, std::string text) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    found_.push_back({rule, std::move(nodes), std::move(text)});
  }
  const std::string& name(int node) const { return problem_.graph.nodes[node].name; }
  const Place& place(int node) const { return mapping_.places[node]; }
  int nodes() const { return int(problem_.graph.nodes.size()); }

  bool shape();
  void slots();
  void timing();
  void tiles();
  void storage();
  void apart(const std::vector<int>& nodes, Rule rule, const std::string& why);
  void routes();
  void route(const Edge& edge, const Route& route);
  void step(const Edge& edge, const RouteStep& from, const RouteStep& to, int& hops);
  void limit(const Users& users, int most, Rule rule, const char* what);

  const MappingProblem& problem_;
  const GraphMapping& mapping_;
  std::vector<Edge> edges_;
  std::vector<Violation> found_;
  Users on_link_, passing_, waiting_;
  std::map<std::pair<int, int>, int> link_cycles_;
};

bool Checker::shape() {
  if (mapping_.ii != problem_.ii) {
    add(Rule::kShape, {}, fmt::format("the mapping's II is {}, the problem's {}", mapping_.ii, problem_.ii));
  }
  if (int(mapping_.places.size()) != nodes()) {
    add(Rule::kShape, {}, fmt::format("{} places for {} nodes", mapping_.places.size(), nodes()));
    return false;
  }
  for (int node = 0; node < nodes(); ++node) {
    if (place(node).tile < 0 || place(node).tile >= problem_.fabric.tiles()) {
      add(Rule::kShape, {node},
          fmt::format("'{}' is on tile {}, which does not exist", name(node), place(node).tile));
    }
    if (place(node).time < 0) {
      add(Rule::kShape, {node}, fmt::format("'{}' starts at clock {}", name(node), place(node).time));
    }
  }
  if (problem_.rules.routed && mapping_.routes.size() != edges_.size()) {
    add(Rule::kShape, {}, fmt::format("{} routes for {} edges", mapping_.routes.size(), edges_.size()));
  }
  return found_.empty();
}

void Checker::slots() {
  std::map<std::pair<int, int>, int> taken;
  for (int node = 0; node < nodes(); ++node) {
    const int slot = place(node).time % problem_.ii;
    const auto [entry, fresh] = taken.try_emplace({place(node).tile, slot}, node);
    if (!fresh) {
      add(Rule::kSlot, {entry->second, node},
          fmt::format("'{}' and '{}' both use slot {} of tile {}", name(entry->second), name(node), slot,
                      place(node).tile));
    }
  }
}

void Checker::timing() {
  const std::vector<std::vector<int>> transfer = transfer_cycles(problem_.fabric);
  for (const Edge& edge : edges_) {
    const Place from = place(edge.from), to = place(edge.to);
    const int way = transfer[from.tile][to.tile];
    const int64_t arrival = int64_t{from.time} + problem_.fabric.operation_latency_cycles + way;
    const int64_t use = to.time + int64_t{edge.distance} * problem_.ii;
    if (way < 0 || use < arrival) {
      add(Rule::kTiming, {edge.from, edge.to},
          fmt::format("'{}' needs the value of '{}' at clock {}, it is there at {}", name(edge.to),
                      name(edge.from), use, arrival));
    } else if (problem_.rules.delay != Delay::kUnbounded) {
      const bool none = problem_.rules.delay == Delay::kNone;
      const int64_t most = none ? 0 : int64_t{problem_.rules.delay_per_hop} * std::max(1, way);
      if (use > arrival + most) {
        add(Rule::kTiming, {edge.from, edge.to},
            fmt::format("the value of '{}' waits {} clocks for '{}', at most {} are allowed", name(edge.from),
                        use - arrival, name(edge.to), most));
      }
    }
  }
}

void Checker::apart(const std::vector<int>& nodes, Rule rule, const std::string& why) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (nodes[i] == nodes[j] || place(nodes[i]).tile != place(nodes[j]).tile) continue;
      add(rule, {nodes[i], nodes[j]},
          fmt::format("'{}' and '{}' are both on tile {}: {}", name(nodes[j]), name(nodes[i]),
                      place(nodes[i]).tile, why));
    }
  }
}

void Checker::tiles() {
  if (problem_.rules.variables_together) {
    for (const std::vector<int>& group : problem_.graph.same_tile_groups()) {
      for (const int node : group) {
        if (place(node).tile == place(group.front()).tile) continue;
        add(Rule::kVariable, {group.front(), node},
            fmt::format("'{}' (tile {}) and '{}' (tile {}) share a variable", name(group.front()),
                        place(group.front()).tile, name(node), place(node).tile));
      }
    }
  }
  std::vector<uint8_t> fed(nodes(), 0);
  std::vector<std::vector<int>> consumers(nodes());
  for (const Edge& edge : edges_) {
    if (edge.distance == 0) fed[edge.to] = 1;
    if (std::find(consumers[edge.from].begin(), consumers[edge.from].end(), edge.to) ==
        consumers[edge.from].end()) {
      consumers[edge.from].push_back(edge.to);
    }
  }
  if (problem_.rules.starters_apart != StarterRule::kOff) {
    const std::vector<int> flow = problem_.graph.flows();
    std::set<int> flows;
    std::vector<int> starters;
    for (int node = 0; node < nodes(); ++node) {
      if (fed[node]) continue;
      if (flows.insert(flow[node]).second || problem_.rules.starters_apart == StarterRule::kRoots)
        starters.push_back(node);
    }
    apart(starters, Rule::kStarters, "starters sit on different tiles");
  }
  if (problem_.rules.siblings_apart) {
    for (int node = 0; node < nodes(); ++node) {
      apart(consumers[node], Rule::kSiblings, fmt::format("both consume '{}'", name(node)));
    }
  }
  for (int node = 0; node < nodes(); ++node) {
    const bool memory = opcode_facts(problem_.graph.nodes[node].op).memory;
    if (memory && problem_.fabric.memory_left_column_only &&
        place(node).tile % problem_.fabric.columns != 0) {
      add(Rule::kMemoryTile, {node},
          fmt::format("'{}' is on tile {}, outside column 0", name(node), place(node).tile));
    }
    const bool tile_off = !problem_.fixed_tiles.empty() &&
                          problem_.fixed_tiles[node].value_or(place(node).tile) != place(node).tile;
    const bool time_off = !problem_.fixed_times.empty() &&
                          problem_.fixed_times[node].value_or(place(node).time) != place(node).time;
    if (tile_off || time_off) {
      add(Rule::kFixed, {node},
          fmt::format("'{}' is on tile {} at clock {}, not where it was fixed", name(node), place(node).tile,
                      place(node).time));
    }
  }
}

void Checker::storage() {
  std::map<int, std::vector<int>> operations;
  std::map<int, std::set<int>> variables;
  for (int node = 0; node < nodes(); ++node) {
    operations[place(node).tile].push_back(node);
    const DataflowNode& given = problem_.graph.nodes[node];
    if (given.writes >= 0) variables[place(node).tile].insert(given.writes);
    for (const Operand& operand : given.operands) {
      if (operand.kind == OperandKind::kVariable) variables[place(node).tile].insert(operand.index);
    }
  }
  for (const auto& [tile, list] : operations) {
    if (int(list.size()) <= problem_.fabric.instructions) continue;
    add(Rule::kInstructions, list,
        fmt::format("{} operations on tile {}, its instruction RAM holds {}", list.size(), tile,
                    problem_.fabric.instructions));
  }
  const int room = problem_.fabric.tile_memories * problem_.fabric.tile_memory_entries;
  for (const auto& [tile, list] : variables) {
    int64_t need = 0;
    for (const int variable : list) need += problem_.graph.variables[variable].size();
    if (need <= room) continue;
    add(Rule::kTileMemory, {},
        fmt::format("{} entries of variables on tile {}, its memories hold {}", need, tile, room));
  }
}

void Checker::step(const Edge& edge, const RouteStep& from, const RouteStep& to, int& hops) {
  const int slot = ((from.clock % problem_.ii) + problem_.ii) % problem_.ii;
  const std::pair<int, int> value{edge.from, from.clock};
  if (from.tile == to.tile) {
    hops = 0;
    if (to.clock != from.clock + 1) {
      add(Rule::kRoute, {edge.from, edge.to},
          fmt::format("the value of '{}' skips from clock {} to {} on tile {}", name(edge.from), from.clock,
                      to.clock, from.tile));
    }
    waiting_[{from.tile, -1, slot}].insert(value);
    return;
  }
  const auto link = link_cycles_.find({from.tile, to.tile});
  if (link == link_cycles_.end() || to.clock != from.clock + link->second) {
    add(Rule::kRoute, {edge.from, edge.to},
        fmt::format("no link takes the value of '{}' from tile {} at clock {} to tile {} at clock {}",
                    name(edge.from), from.tile, from.clock, to.tile, to.clock));
    return;
  }
  hops = link->second == 0 ? hops + 1 : 0;
  if (hops > problem_.fabric.hops_per_cycle) {
    add(Rule::kHops, {edge.from, edge.to},
        fmt::format("the value of '{}' crosses {} links within clock {}", name(edge.from), hops, from.clock));
  }
  on_link_[{from.tile, to.tile, slot}].insert(value);
  if (from.tile != place(edge.from).tile) passing_[{from.tile, -1, slot}].insert(value);
}

void Checker::route(const Edge& edge, const Route& route) {
  const RouteStep start{place(edge.from).tile,
                        place(edge.from).time + problem_.fabric.operation_latency_cycles};
  const RouteStep end{place(edge.to).tile, place(edge.to).time + edge.distance * problem_.ii};
  if (route.empty() || route.front() != start || route.back() != end) {
    add(Rule::kRoute, {edge.from, edge.to},
        fmt::format(
            "the route from '{}' to '{}' does not lead from tile {} at clock {} to tile {} at clock {}",
            name(edge.from), name(edge.to), start.tile, start.clock, end.tile, end.clock));
    return;
  }
  int hops = 0;
  for (size_t i = 1; i < route.size(); ++i) step(edge, route[i - 1], route[i], hops);
}

void Checker::limit(const Users& users, int most, Rule rule, const char* what) {
  for (const auto& [where, values] : users) {
    if (int(values.size()) <= most) continue;
    const auto [tile, to, slot] = where;
    std::vector<int> nodes;
    for (const auto& [node, clock] : values) nodes.push_back(node);
    const std::string place =
        to < 0 ? fmt::format("tile {}", tile) : fmt::format("the link from tile {} to {}", tile, to);
    add(rule, std::move(nodes),
        fmt::format("{} values {} {} in slot {}, at most {}", values.size(), what, place, slot, most));
  }
}

void Checker::routes() {
  for (const FabricLink& link : fabric_links(problem_.fabric))
    link_cycles_[{link.from, link.to}] = link.cycles;
  for (size_t edge = 0; edge < edges_.size(); ++edge) route(edges_[edge], mapping_.routes[edge]);
  limit(on_link_, 1, Rule::kLink, "use");
  limit(waiting_, problem_.fabric.delay_registers, Rule::kDelayRegister, "wait on");
  if (problem_.fabric.pass_through > 0)
    limit(passing_, problem_.fabric.pass_through, Rule::kPassThrough, "pass");
}

}  // namespace

const char* rule_name(Rule rule) {
  switch (rule) {
    case Rule::kShape:
      return "shape";
    case Rule::kSlot:
      return "slot";
    case Rule::kTiming:
      return "timing";
    case Rule::kVariable:
      return "variable";
    case Rule::kStarters:
      return "starters";
    case Rule::kSiblings:
      return "siblings";
    case Rule::kFixed:
      return "fixed";
    case Rule::kMemoryTile:
      return "memory tile";
    case Rule::kInstructions:
      return "instruction RAM";
    case Rule::kTileMemory:
      return "tile memory";
    case Rule::kRoute:
      return "route";
    case Rule::kLink:
      return "link";
    case Rule::kPassThrough:
      return "pass-through";
    case Rule::kDelayRegister:
      return "delay register";
    case Rule::kHops:
      return "hops";
    case Rule::kStoreOrder:
      return "store order";
  }
  return "?";
}

std::vector<Violation> check_mapping(const MappingProblem& problem, const GraphMapping& mapping) {
  return Checker(problem, mapping).run();
}

}  // namespace tilewright::cgra
