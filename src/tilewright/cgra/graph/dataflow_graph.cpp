// Edges, flows, groups and order of a dataflow graph.
#include "tilewright/cgra/graph/dataflow_graph.h"

#include <algorithm>
#include <numeric>

namespace tilewright::cgra {
namespace {

int root_of(std::vector<int>& parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

}  // namespace

std::vector<Edge> DataflowGraph::edges() const {
  std::vector<Edge> edges;
  for (size_t to = 0; to < nodes.size(); ++to) {
    for (size_t i = 0; i < nodes[to].operands.size(); ++i) {
      const Operand& operand = nodes[to].operands[i];
      if (operand.kind == OperandKind::kNode)
        edges.push_back({operand.index, int(to), int(i), operand.distance});
    }
  }
  return edges;
}

std::vector<int> DataflowGraph::flows() const {
  std::vector<int> parent(nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Edge& edge : edges()) {
    const int a = root_of(parent, edge.from), b = root_of(parent, edge.to);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> flow(nodes.size(), -1);
  int count = 0;
  for (size_t node = 0; node < nodes.size(); ++node) {
    const int root = root_of(parent, int(node));
    flow[node] = root == int(node) ? count++ : flow[root];
  }
  return flow;
}

std::vector<std::vector<int>> DataflowGraph::same_tile_groups() const {
  std::vector<std::vector<int>> users(variables.size());
  for (size_t node = 0; node < nodes.size(); ++node) {
    const auto use = [&](int variable) {
      if (users[variable].empty() || users[variable].back() != int(node))
        users[variable].push_back(int(node));
    };
    for (const Operand& operand : nodes[node].operands) {
      if (operand.kind == OperandKind::kVariable) use(operand.index);
    }
    if (nodes[node].writes >= 0) use(nodes[node].writes);
  }
  std::erase_if(users, [](const std::vector<int>& group) { return group.size() < 2; });
  return users;
}

// Kahn's algorithm.
std::vector<int> topological_order(const DataflowGraph& graph) {
  const size_t count = graph.nodes.size();
  std::vector<int> waiting(count, 0), order;
  std::vector<std::vector<int>> next(count);
  for (const Edge& edge : graph.edges()) {
    if (edge.distance != 0) continue;
    ++waiting[edge.to];
    next[edge.from].push_back(edge.to);
  }
  for (size_t node = 0; node < count; ++node) {
    if (waiting[node] == 0) order.push_back(int(node));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int to : next[order[i]]) {
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  return order;
}

int critical_path_cycles(const DataflowGraph& graph, int latency_cycles) {
  const std::vector<Edge> edges = graph.edges();
  std::vector<std::vector<int>> next(graph.nodes.size());
  for (const Edge& edge : edges) {
    if (edge.distance == 0) next[edge.from].push_back(edge.to);
  }
  std::vector<int> end(graph.nodes.size(), latency_cycles);
  int longest = graph.nodes.empty() ? 0 : latency_cycles;
  for (const int node : topological_order(graph)) {
    longest = std::max(longest, end[node]);
    for (const int to : next[node]) end[to] = std::max(end[to], end[node] + latency_cycles);
  }
  return longest;
}

}  // namespace tilewright::cgra
