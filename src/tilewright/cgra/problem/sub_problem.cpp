// Copies the chosen nodes and renumbers their operands; those from outside become constants.
#include "tilewright/cgra/problem/sub_problem.h"

namespace tilewright::cgra {

MappingProblem sub_problem(const MappingProblem& problem, const std::vector<int>& nodes, bool loops) {
  MappingProblem part;
  part.fabric = problem.fabric;
  part.ii = problem.ii;
  part.rules = problem.rules;
  part.rules.routed = false;
  part.graph.name = problem.graph.name;
  part.graph.variables = problem.graph.variables;
  part.graph.arrays = problem.graph.arrays;
  std::vector<int> index(problem.graph.nodes.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) index[size_t(nodes[i])] = int(i);
  for (const int node : nodes) {
    DataflowNode copy = problem.graph.nodes[size_t(node)];
    for (Operand& operand : copy.operands) {
      if (operand.kind != OperandKind::kNode) continue;
      const int inside = index[size_t(operand.index)];
      const bool kept = inside >= 0 && (operand.distance == 0 || loops);
      operand = kept ? operand : Operand{.kind = OperandKind::kConstant};
      if (kept) operand.index = inside;
    }
    part.graph.nodes.push_back(std::move(copy));
    if (!problem.fixed_tiles.empty()) part.fixed_tiles.push_back(problem.fixed_tiles[size_t(node)]);
    if (!problem.fixed_times.empty()) part.fixed_times.push_back(problem.fixed_times[size_t(node)]);
  }
  return part;
}

}  // namespace tilewright::cgra
