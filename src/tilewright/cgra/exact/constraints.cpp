// Requirements from a problem, and from requirements units (union-find), allowed tiles, and cliques of units
// that are pairwise apart (greedy: every pair that no clique covers yet starts one that takes what it can).
#include "tilewright/cgra/exact/constraints.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace tilewright::cgra {
namespace {

void add_storage(const MappingProblem& problem, PlacementConstraints& made) {
  made.columns = problem.fabric.columns;
  made.instructions = problem.fabric.instructions;
  made.tile_memory = problem.fabric.tile_memories * problem.fabric.tile_memory_entries;
  made.variables.resize(problem.graph.variables.size());
  for (int node = 0; node < made.model.nodes; ++node) {
    const DataflowNode& given = problem.graph.nodes[node];
    const auto use = [&](int variable) {
      std::vector<int>& users = made.variables[variable].users;
      if (users.empty() || users.back() != node) users.push_back(node);
    };
    if (given.writes >= 0) use(given.writes);
    for (const Operand& operand : given.operands) {
      if (operand.kind == OperandKind::kVariable) use(operand.index);
    }
  }
  int64_t entries = 0;
  for (size_t i = 0; i < made.variables.size(); ++i) {
    made.variables[i].size = problem.graph.variables[i].size();
    if (!made.variables[i].users.empty()) entries += made.variables[i].size;
  }
  const bool few_instructions = made.instructions < std::min(made.model.ii, made.model.nodes);
  for (int node = 0; node < made.model.nodes; ++node) {
    if (entries > made.tile_memory) made.list.push_back({.rule = Rule::kTileMemory, .first = node});
    if (few_instructions) made.list.push_back({.rule = Rule::kInstructions, .first = node});
  }
}

void add_fixed(const MappingProblem& problem, PlacementConstraints& made) {
  for (int node = 0; node < made.model.nodes; ++node) {
    const auto at = [&](const std::vector<std::optional<int>>& fixed) {
      return fixed.empty() ? -1 : fixed[node].value_or(-1);
    };
    const int tile = at(problem.fixed_tiles), time = at(problem.fixed_times);
    if (tile >= 0) made.list.push_back({.rule = Rule::kFixed, .first = node, .tile = tile});
    if (time >= 0) made.list.push_back({.rule = Rule::kFixed, .first = node, .time = time});
    if (problem.fabric.memory_left_column_only && opcode_facts(problem.graph.nodes[node].op).memory) {
      made.list.push_back({.rule = Rule::kMemoryTile, .first = node});
    }
  }
}

std::vector<std::vector<int>> cover_by_cliques(const PlacementModel& model,
                                               const std::vector<std::vector<int>>& apart_of) {
  const int count = int(apart_of.size());
  std::vector<std::vector<uint8_t>> pair(count, std::vector<uint8_t>(count, 0));
  for (int a = 0; a < count; ++a) {
    for (const int b : apart_of[a]) pair[a][b] = 1;
  }
  std::vector<std::vector<uint8_t>> covered(count, std::vector<uint8_t>(count, 0));
  std::vector<std::vector<int>> cliques;
  for (int a = 0; a < count; ++a) {
    for (const int b : apart_of[a]) {
      if (b <= a || covered[a][b]) continue;
      model.check();
      std::vector<int> clique{a, b};
      for (const int other : apart_of[a]) {
        if (other == a || other == b) continue;
        if (std::all_of(clique.begin(), clique.end(), [&](int member) { return pair[member][other] != 0; }))
          clique.push_back(other);
      }
      for (const int x : clique) {
        for (const int y : clique) covered[x][y] = 1;
      }
      cliques.push_back(std::move(clique));
    }
  }
  return cliques;
}

void sort_units(const PlacementConstraints& constraints, SortedConstraints& sorted) {
  const int nodes = constraints.model.nodes;
  std::vector<int> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const Requirement& one : constraints.list) {
    if (one.rule != Rule::kVariable) continue;
    const int a = root(one.first), b = root(one.second);
    parent[std::max(a, b)] = std::min(a, b);
  }
  sorted.unit.resize(nodes);
  for (int node = 0; node < nodes; ++node) {
    const int first = root(node);
    if (first == node) sorted.units.emplace_back();
    sorted.unit[node] = first == node ? int(sorted.units.size()) - 1 : sorted.unit[first];
    sorted.units[sorted.unit[node]].push_back(node);
  }
}

}  // namespace

int PlacementConstraints::makespan(const std::vector<Place>& places) const {
  int end = 0;
  for (int node = 0; node < model.nodes; ++node) end = std::max(end, places[node].time + tail(node));
  return end;
}

PlacementConstraints placement_constraints(const MappingProblem& problem, const Deadline* deadline) {
  PlacementConstraints made;
  made.model = compile_model(problem, deadline);
  for (int node = 0; node < made.model.nodes; ++node)
    made.list.push_back({.rule = Rule::kSlot, .first = node});
  for (const Edge& edge : made.model.edges)
    made.list.push_back({.rule = Rule::kTiming, .first = edge.from, .second = edge.to, .edge = edge});
  if (problem.rules.variables_together) {
    std::set<std::pair<int, int>> pairs;
    for (const std::vector<int>& group : problem.graph.same_tile_groups()) {
      for (size_t i = 0; i < group.size(); ++i) {
        made.model.check();
        for (size_t j = i + 1; j < group.size(); ++j) pairs.insert({group[i], group[j]});
      }
    }
    for (const auto& [a, b] : pairs) made.list.push_back({.rule = Rule::kVariable, .first = a, .second = b});
  }
  for (const PlacementModel::Apart& pair : made.model.apart) {
    const Rule rule = pair.why == PlacementModel::Why::kStarters ? Rule::kStarters : Rule::kSiblings;
    made.list.push_back({.rule = rule, .first = pair.first, .second = pair.second});
  }
  add_fixed(problem, made);
  add_storage(problem, made);
  return made;
}

SortedConstraints sort_constraints(const PlacementConstraints& constraints) {
  const PlacementModel& model = constraints.model;
  SortedConstraints sorted;
  sort_units(constraints, sorted);
  for (auto* flags : {&sorted.occupies, &sorted.counted, &sorted.stored}) flags->assign(model.nodes, 0);
  sorted.fixed_time.assign(model.nodes, -1);
  sorted.allowed.assign(sorted.units.size(), std::vector<uint8_t>(model.tiles, 1));
  std::vector<std::set<int>> apart(sorted.units.size());
  std::set<std::tuple<int, int, int>> edges;
  const auto keep_tiles = [&](int node, auto&& keep) {
    model.check();
    for (int tile = 0; tile < model.tiles; ++tile) {
      if (!keep(tile)) sorted.allowed[sorted.unit[node]][tile] = 0;
    }
  };
  for (const Requirement& one : constraints.list) {
    if (one.rule == Rule::kSlot) model.check(), sorted.occupies[one.first] = 1;
    if (one.rule == Rule::kInstructions) sorted.counted[one.first] = 1;
    if (one.rule == Rule::kTileMemory) sorted.stored[one.first] = 1;
    if (one.rule == Rule::kMemoryTile)
      keep_tiles(one.first, [&](int tile) { return tile % constraints.columns == 0; });
    if (one.rule == Rule::kFixed && one.tile >= 0)
      keep_tiles(one.first, [&](int tile) { return tile == one.tile; });
    if (one.rule == Rule::kFixed && one.tile < 0) sorted.fixed_time[one.first] = one.time;
    if (one.rule == Rule::kTiming && edges.insert({one.edge.from, one.edge.to, one.edge.distance}).second)
      sorted.edges.push_back(one.edge);
    if (one.rule == Rule::kStarters || one.rule == Rule::kSiblings) {
      const int a = sorted.unit[one.first], b = sorted.unit[one.second];
      apart[a].insert(b);
      apart[b].insert(a);
    }
  }
  for (const std::set<int>& others : apart) sorted.apart_of.emplace_back(others.begin(), others.end());
  sorted.cliques = cover_by_cliques(model, sorted.apart_of);
  return sorted;
}

}  // namespace tilewright::cgra
