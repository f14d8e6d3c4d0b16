// The maximum cycle ratio by improving cycles: with the ratio of the best cycle so far as the price of an
// iteration, Bellman-Ford either finds a cycle that is worth more, which becomes the best, or proves that
// none is (Lawler's parametric view; every step strictly improves, so it ends). All in integers.
#include "tilewright/cgra/kernel/minimum_ii.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {
namespace {

// Nodes of a cycle with sum(latency) / sum(distance) > cycles / distance; empty: none.
std::vector<int> better_cycle(const std::vector<Edge>& edges, int nodes, int latency, int64_t cycles,
                              int64_t distance, const Deadline* deadline) {
  std::vector<int64_t> length(nodes, 0);
  std::vector<int> parent(nodes, -1);
  int changed = -1;
  for (int round = 0; round <= nodes; ++round) {
    if (deadline) deadline->check();
    changed = -1;
    for (const Edge& edge : edges) {
      const int64_t next = length[edge.from] + latency * distance - edge.distance * cycles;
      if (next <= length[edge.to]) continue;
      length[edge.to] = next;
      parent[edge.to] = edge.from;
      changed = edge.to;
    }
    if (changed < 0) return {};
  }
  for (int i = 0; i < nodes; ++i) changed = parent[changed];  // certainly on the cycle
  std::vector<int> cycle{changed};
  for (int node = parent[changed]; node != changed; node = parent[node]) cycle.push_back(node);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

// Iterations around the cycle, every step over its edge of least distance.
int cycle_distance(const std::vector<Edge>& edges, const std::vector<int>& cycle) {
  int sum = 0;
  for (size_t i = 0; i < cycle.size(); ++i) {
    int least = -1;
    for (const Edge& edge : edges) {
      if (edge.from != cycle[i] || edge.to != cycle[(i + 1) % cycle.size()]) continue;
      if (least < 0 || edge.distance < least) least = edge.distance;
    }
    sum += least;
  }
  return sum;
}

void add_recurrence(const MappingProblem& problem, const Deadline* deadline, MinimumIi& bound) {
  const std::vector<Edge> edges = problem.graph.edges();
  const int latency = problem.fabric.operation_latency_cycles, nodes = int(problem.graph.nodes.size());
  int64_t cycles = 0, distance = 1;
  while (true) {
    const std::vector<int> cycle = better_cycle(edges, nodes, latency, cycles, distance, deadline);
    if (cycle.empty()) return;
    bound.cycle = cycle;
    bound.cycle_cycles = latency * int(cycle.size());
    bound.cycle_distance = cycle_distance(edges, cycle);
    bound.recurrence = ceil_div(bound.cycle_cycles, bound.cycle_distance);
    cycles = bound.cycle_cycles;
    distance = bound.cycle_distance;
  }
}

void find_bound(const MappingProblem& problem, const Deadline* deadline, MinimumIi& bound) {
  const int nodes = int(problem.graph.nodes.size());
  bound.resource = int(std::max<int64_t>(1, ceil_div(nodes, problem.fabric.tiles())));
  bound.reason = fmt::format("{} operations on {} tiles", nodes, problem.fabric.tiles());
  if (problem.fabric.memory_left_column_only) {
    const auto memory = std::count_if(problem.graph.nodes.begin(), problem.graph.nodes.end(),
                                      [](const DataflowNode& node) { return opcode_facts(node.op).memory; });
    const int need = ceil_div(int(memory), problem.fabric.rows);
    if (need > bound.resource) {
      bound.resource = need;
      bound.reason =
          fmt::format("{} loads and stores on the {} tiles of column 0", memory, problem.fabric.rows);
    }
  }
  if (problem.rules.variables_together) {
    for (const std::vector<int>& unit : compile_model(problem, deadline).units) {
      if (int(unit.size()) <= bound.value()) continue;
      bound.shared_tile = int(unit.size());
      bound.reason = fmt::format("{} operations share variables and so one tile", unit.size());
    }
  }
  const int others = bound.value();
  add_recurrence(problem, deadline, bound);
  if (bound.recurrence > others) {
    bound.reason = fmt::format("a cycle of {} clocks over {} iteration{}:", bound.cycle_cycles,
                               bound.cycle_distance, bound.cycle_distance == 1 ? "" : "s");
    for (const int node : bound.cycle) bound.reason += " '" + problem.graph.nodes[node].name + "'";
  }
}

}  // namespace

int MinimumIi::value() const { return std::max({resource, recurrence, shared_tile}); }

MinimumIi minimum_ii(const MappingProblem& problem, const Deadline* deadline) {
  MinimumIi bound;
  const Deadline none;
  finishes(deadline ? *deadline : none, [&] { find_bound(problem, deadline, bound); });
  return bound;
}

}  // namespace tilewright::cgra
