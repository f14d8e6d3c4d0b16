// Edges, flows and groups of a dataflow graph, and the rules of its form.
#include "tilewright/cgra/graph/dataflow_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tilewright::cgra {
namespace {

int root_of(std::vector<int>& parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

// Kahn's order over the edges of distance 0; the nodes that stay behind lie on cycles or after them.
std::vector<int> topological_part(int nodes, const std::vector<Edge>& edges) {
  std::vector<int> waiting(nodes, 0), order;
  std::vector<std::vector<int>> next(nodes);
  for (const Edge& edge : edges) {
    if (edge.distance != 0) continue;
    ++waiting[edge.to];
    next[edge.from].push_back(edge.to);
  }
  for (int node = 0; node < nodes; ++node) {
    if (waiting[node] == 0) order.push_back(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int to : next[order[i]]) {
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  return order;
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

void DataflowGraph::verify(int most_operands, Diagnostics& diagnostics) const {
  bool sound = true;
  const auto error = [&](const Node& node, std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, "node '" + node.name + "'",
                      std::string(opcode_facts(node.op).name), std::move(message), std::move(hint));
  };
  const auto exists = [](int index, size_t count) { return index >= 0 && index < int(count); };
  if (nodes.empty()) diagnostics.error(ErrorKind::kInvalidInput, "graph '" + name + "'", "nodes", "is empty");
  for (const Node& node : nodes) {
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Operand& operand = node.operands[i];
      if ((operand.kind == OperandKind::kNode && !exists(operand.index, nodes.size())) ||
          (operand.kind == OperandKind::kVariable && !exists(operand.index, variables.size()))) {
        sound = false;
        error(node, fmt::format("operand {} is undefined", i), "name a node, a variable or a constant");
      }
      if (operand.distance < 0)
        error(node, fmt::format("operand {} comes from a later iteration", i), "distance >= 0");
    }
    if (int(node.operands.size()) > most_operands) {
      error(node, fmt::format("{} operands, an instruction takes {}", node.operands.size(), most_operands),
            "split the operation");
    }
    if (node.writes >= int(variables.size()) || node.sends >= int(variables.size())) {
      sound = false;
      error(node, "writes a variable that does not exist", "list it under variables");
    }
  }
  if (!sound) return;
  const std::vector<int> order = topological_part(int(nodes.size()), edges());
  if (order.size() == nodes.size()) return;
  std::vector<uint8_t> done(nodes.size(), 0);
  for (const int node : order) done[node] = 1;
  std::vector<std::string> names;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (!done[node]) names.push_back(nodes[node].name);
  }
  diagnostics.error(ErrorKind::kInvalidInput, "graph '" + name + "'", "edges",
                    fmt::format("a cycle without distance among (or before) {}", fmt::join(names, ", ")),
                    "give the edge that closes a loop a distance of at least 1");
}

int critical_path_cycles(const DataflowGraph& graph, int latency_cycles) {
  const std::vector<Edge> edges = graph.edges();
  std::vector<std::vector<int>> next(graph.nodes.size());
  for (const Edge& edge : edges) {
    if (edge.distance == 0) next[edge.from].push_back(edge.to);
  }
  std::vector<int> end(graph.nodes.size(), latency_cycles);
  int longest = graph.nodes.empty() ? 0 : latency_cycles;
  for (const int node : topological_part(int(graph.nodes.size()), edges)) {
    longest = std::max(longest, end[node]);
    for (const int to : next[node]) end[to] = std::max(end[to], end[node] + latency_cycles);
  }
  return longest;
}

}  // namespace tilewright::cgra
