// Compilation of a problem: units by union-find over shared variables, pairs apart from the two rules on
// tiles.
#include "tilewright/cgra/problem/model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tilewright::cgra {
namespace {

void number_units(const MappingProblem& problem, PlacementModel& model) {
  std::vector<int> parent(model.nodes);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  if (problem.rules.variables_together) {
    for (const std::vector<int>& group : problem.graph.same_tile_groups()) {
      for (const int node : group) {
        const int a = root(group.front()), b = root(node);
        parent[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  model.unit.assign(model.nodes, -1);
  for (int node = 0; node < model.nodes; ++node) {
    const int first = root(node);
    if (first == node) {
      model.unit[node] = int(model.units.size());
      model.units.emplace_back();
    } else {
      model.unit[node] = model.unit[first];
    }
    model.units[model.unit[node]].push_back(node);
  }
}

std::vector<int> starters(const MappingProblem& problem, const PlacementModel& model) {
  if (problem.rules.starters_apart == StarterRule::kOff) return {};
  const std::vector<int> flow = problem.graph.flows();
  std::vector<uint8_t> seen(model.nodes, 0);
  std::vector<int> nodes;
  for (int node = 0; node < model.nodes; ++node) {
    const bool root = std::none_of(model.incoming[node].begin(), model.incoming[node].end(),
                                   [&](int edge) { return model.edges[edge].distance == 0; });
    if (!root || (problem.rules.starters_apart == StarterRule::kFlows && seen[flow[node]])) continue;
    seen[flow[node]] = 1;
    nodes.push_back(node);
  }
  return nodes;
}

void make_apart(const MappingProblem& problem, PlacementModel& model) {
  std::map<std::pair<int, int>, PlacementModel::Apart> pairs;
  const auto add = [&](int a, int b, PlacementModel::Why why, int cause) {
    if (a != b)
      pairs.try_emplace({std::min(a, b), std::max(a, b)},
                        PlacementModel::Apart{std::min(a, b), std::max(a, b), why, cause});
  };
  const std::vector<int> first = starters(problem, model);
  for (size_t i = 0; i < first.size(); ++i) {
    model.check();
    for (size_t j = 0; j < i; ++j) add(first[i], first[j], PlacementModel::Why::kStarters, -1);
  }
  if (problem.rules.siblings_apart) {
    for (int node = 0; node < model.nodes; ++node) {
      for (const int a : model.outgoing[node]) {
        model.check();
        for (const int b : model.outgoing[node]) {
          add(model.edges[a].to, model.edges[b].to, PlacementModel::Why::kSiblings, node);
        }
      }
    }
  }
  model.apart_of.resize(model.nodes);
  std::vector<std::set<int>> units(model.units.size());
  for (const auto& [key, pair] : pairs) {
    model.apart.push_back(pair);
    model.apart_of[pair.first].push_back(pair.second);
    model.apart_of[pair.second].push_back(pair.first);
    units[model.unit[pair.first]].insert(model.unit[pair.second]);
    units[model.unit[pair.second]].insert(model.unit[pair.first]);
  }
  for (const std::set<int>& others : units) model.units_apart.emplace_back(others.begin(), others.end());
}

void make_allowed(const MappingProblem& problem, PlacementModel& model) {
  model.allowed.assign(model.nodes, std::vector<uint8_t>(model.tiles, 1));
  for (int node = 0; node < model.nodes; ++node) {
    const DataflowNode& given = problem.graph.nodes[node];
    const bool left = problem.fabric.memory_left_column_only && opcode_facts(given.op).memory;
    const int fixed = problem.fixed_tiles.empty() ? -1 : problem.fixed_tiles[node].value_or(-1);
    for (int tile = 0; tile < model.tiles; ++tile) {
      if ((left && tile % problem.fabric.columns != 0) || (fixed >= 0 && fixed != tile))
        model.allowed[node][tile] = 0;
    }
  }
  for (const std::vector<int>& unit : model.units) {
    for (int tile = 0; tile < model.tiles; ++tile) {
      const bool all = std::all_of(unit.begin(), unit.end(),
                                   [&](int node) { return model.allowed[size_t(node)][size_t(tile)] != 0; });
      for (const int node : unit) model.allowed[size_t(node)][size_t(tile)] = all;
    }
  }
}

void order_nodes(PlacementModel& model) {
  std::vector<int> waiting(model.nodes, 0);
  for (const Edge& edge : model.edges) waiting[edge.to] += edge.distance == 0;
  for (int node = 0; node < model.nodes; ++node) {
    if (waiting[node] == 0) model.topological.push_back(node);
  }
  for (size_t i = 0; i < model.topological.size(); ++i) {
    for (const int edge : model.outgoing[model.topological[i]]) {
      if (model.edges[edge].distance == 0 && --waiting[model.edges[edge].to] == 0) {
        model.topological.push_back(model.edges[edge].to);
      }
    }
  }
}

}  // namespace

int PlacementModel::most_gap(int from_tile, int to_tile) const {
  const int least = least_gap(from_tile, to_tile);
  switch (rules.delay) {
    case Delay::kNone:
      return least;
    case Delay::kBounded:
      return least + rules.delay_per_hop * std::max(1, transfer[from_tile][to_tile]);
    case Delay::kUnbounded:
      return kNoLimit;
  }
  return kNoLimit;
}

PlacementModel compile_model(const MappingProblem& problem, const Deadline* deadline) {
  PlacementModel model;
  model.deadline = deadline;
  model.nodes = int(problem.graph.nodes.size());
  model.tiles = problem.fabric.tiles();
  model.ii = problem.ii;
  model.tile_operations = std::min(problem.ii, problem.fabric.instructions);
  model.latency_cycles = problem.fabric.operation_latency_cycles;
  model.rules = problem.rules;
  model.edges = problem.graph.edges();
  model.incoming.resize(model.nodes);
  model.outgoing.resize(model.nodes);
  for (size_t edge = 0; edge < model.edges.size(); ++edge) {
    model.incoming[model.edges[edge].to].push_back(int(edge));
    model.outgoing[model.edges[edge].from].push_back(int(edge));
  }
  const double tables = double(model.tiles) * (double(model.tiles) * sizeof(int) + model.nodes);
  if (deadline && !deadline->fits(tables)) {
    deadline->expire(Ending::kMemory);
    throw Expired();
  }
  model.transfer = transfer_cycles(problem.fabric, deadline);
  model.check();
  number_units(problem, model);
  make_apart(problem, model);
  make_allowed(problem, model);
  model.fixed_time.assign(model.nodes, -1);
  for (size_t node = 0; node < problem.fixed_times.size(); ++node) {
    model.fixed_time[node] = problem.fixed_times[node].value_or(-1);
  }
  order_nodes(model);
  return model;
}

}  // namespace tilewright::cgra
