// Small kernels for the tests of this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/outside_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/graph/kernel_file.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra::testing {

inline Fabric preset(const std::string& name) {
  return find_fabric(name, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
}

// Edges {from, to, distance} between `nodes` additions.
inline DataflowGraph graph_of(int nodes, const std::vector<std::vector<int>>& edges) {
  DataflowGraph graph;
  graph.name = "kernel";
  for (int node = 0; node < nodes; ++node) {
    DataflowNode made;
    made.name = "n" + std::to_string(node);
    graph.nodes.push_back(made);
  }
  const auto operand = [](OperandKind kind) {
    Operand made;
    made.kind = kind;
    return made;
  };
  for (const std::vector<int>& edge : edges) {
    Operand made = operand(OperandKind::kNode);
    made.index = edge[0];
    made.distance = edge[2];
    graph.nodes[edge[1]].operands.push_back(made);
  }
  for (DataflowNode& node : graph.nodes) {
    while (node.operands.size() < 2) node.operands.push_back(operand(OperandKind::kConstant));
  }
  return graph;
}

inline MappingProblem problem_of(DataflowGraph graph, Fabric fabric, int ii = 1) {
  MappingProblem problem;
  problem.graph = std::move(graph);
  problem.fabric = std::move(fabric);
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  problem.rules.routed = true;
  return problem;
}

// At most two operands a node; edges back carry a distance of 1 or 2.
inline DataflowGraph random_kernel(Random& random, int nodes) {
  std::vector<std::vector<int>> edges;
  std::vector<int> operands(nodes, 0);
  for (int i = 0; i < 2 * nodes; ++i) {
    const int from = int(random.between(0, nodes - 1)), to = int(random.between(0, nodes - 1));
    const bool back = from >= to;
    if (operands[to] == 2 || (back && random.chance(0.6))) continue;
    ++operands[to];
    edges.push_back({from, to, back ? int(random.between(1, 2)) : int(random.chance(0.1))});
  }
  return graph_of(nodes, edges);
}

// The loop kernels that the project ships.
inline std::vector<std::string> shipped_kernels() {
  return {"biquad", "butterfly", "dot_product", "edit_distance", "fir4"};
}
inline KernelFile shipped_kernel(const std::string& name) {
  return read_kernel_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/kernels/" + name + ".json");
}
inline MappingProblem kernel_problem(const std::string& name, const std::string& fabric) {
  return problem_of(shipped_kernel(name).graph, preset(fabric));
}

// Those of other projects, e.g. "morpher/nw".
inline KernelFile outside_kernel(const std::string& file) {
  return read_kernel_file(outside_models() / "cgra_graphs" / "dfg" / (file + ".json"));
}
inline MappingProblem outside_kernel_problem(const std::string& file, const std::string& fabric) {
  return problem_of(outside_kernel(file).graph, preset(fabric));
}

}  // namespace tilewright::cgra::testing
