// Branch and bound on the graphs with known optima: distance and multiply-add on the 16-tile line, II 1 to 6.
#include "tilewright/cgra/heuristic/branch_and_bound.h"

#include <gtest/gtest.h>

namespace tilewright::cgra {
namespace {

MappingProblem line_problem(const std::vector<std::vector<int>>& operands, int ii) {
  MappingProblem problem;
  problem.graph.name = "graph";
  problem.fabric = find_fabric("line-16", "none");
  problem.rules = usual_rules(problem.fabric);
  problem.ii = ii;
  for (size_t i = 0; i < operands.size(); ++i) {
    DataflowNode node{.name = "n" + std::to_string(i)};
    for (const int from : operands[i]) node.operands.push_back({.kind = OperandKind::kNode, .index = from});
    problem.graph.nodes.push_back(node);
  }
  return problem;
}

TEST(BranchAndBound, KnownOptimaAtEveryInterval) {
  const std::vector<std::vector<int>> distance = {{}, {}, {}, {0}, {1}, {3, 4}, {5, 2}},
                                      chain = {{}, {0}, {1}};
  const std::vector<int> of_distance = {16, 13, 15, 13, 13, 13}, of_chain = {11, 10, 11, 9, 9, 10};
  for (int ii = 1; ii <= 6; ++ii) {
    GraphMapperOptions options;
    options.limits.seconds = 60;
    const MappingProblem large = line_problem(distance, ii), small = line_problem(chain, ii);
    const MappingResult one = map_branch_and_bound(large, options),
                        two = map_branch_and_bound(small, options);
    EXPECT_EQ(one.status, SearchStatus::kOptimal);
    EXPECT_EQ(one.makespan, of_distance[size_t(ii - 1)]) << "II " << ii;
    EXPECT_EQ(two.makespan, of_chain[size_t(ii - 1)]) << "II " << ii;
    EXPECT_TRUE(check_mapping(large, *one.mapping).empty());
    EXPECT_TRUE(check_mapping(small, *two.mapping).empty());
  }
}

TEST(BranchAndBound, TooManyOperationsAreInfeasible) {
  MappingProblem problem = line_problem(std::vector<std::vector<int>>(5), 1);
  problem.fabric = find_fabric("line-4", "none");
  problem.rules.starters_apart = StarterRule::kOff;
  EXPECT_EQ(map_branch_and_bound(problem, {}).status, SearchStatus::kInfeasible);
}

TEST(BranchAndBound, LoopsBoundStartsFromBothSides) {
  // a -> b -> a of the next iteration: at II 6 on one tile, or not at all at II 5.
  MappingProblem problem = line_problem({{}, {0}}, 6);
  problem.graph.nodes[0].operands.push_back({.kind = OperandKind::kNode, .index = 1, .distance = 1});
  problem.rules.starters_apart = StarterRule::kOff;
  const MappingResult found = map_branch_and_bound(problem, {});
  ASSERT_TRUE(found.mapping);
  EXPECT_EQ(found.makespan, 6);
  EXPECT_TRUE(check_mapping(problem, *found.mapping).empty());
  problem.ii = 5;
  EXPECT_EQ(map_branch_and_bound(problem, {}).status, SearchStatus::kStopped);
}

}  // namespace
}  // namespace tilewright::cgra
