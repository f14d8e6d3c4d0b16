// The routed tier: small problems against trying every place and every way, and the paper's graphs.
#include "tilewright/cgra/exact/routed_mapper.h"

#include <gtest/gtest.h>

#include <map>

#include "support/cgra/routed_testing.h"
#include "tilewright/cgra/graph/graph_file.h"

namespace tilewright::cgra {
namespace {

TEST(RoutedMapper, EqualsTryingEverythingOnRandomProblems) {
  Random random(77);
  RoutedTally tally;
  for (int run = 0; run < 200 && !testing::Test::HasFailure(); ++run) {
    SCOPED_TRACE(run);
    compare_routed(random_routed_problem(random, 4), 8, 4000, tally);
  }
  EXPECT_GT(tally.mapped, 50);
  EXPECT_GT(tally.unmapped, 50);
  EXPECT_GT(tally.blocked, 5);  // ways, not places, decide
}

// On one tile without registers a value cannot wait: no schedule of any length.
TEST(RoutedMapper, ProvesWhatOnlyRoutesMakeImpossible) {
  MappingProblem problem;
  problem.fabric.delay_registers = 0;
  problem.ii = 4;
  problem.graph.nodes = {{.name = "source", .op = Opcode::kCopy}, {.name = "reader", .op = Opcode::kCopy}};
  problem.graph.nodes[0].operands = {{.kind = OperandKind::kConstant}};
  problem.graph.nodes[1].operands = {{.kind = OperandKind::kNode, .index = 0}};
  problem.fixed_times = {0, 2};
  EXPECT_EQ(map_exact_routed(problem, {}).status, SearchStatus::kInfeasible);
  EXPECT_EQ(map_exact_routed(problem, {}).conflict->nodes, (std::vector<int>{0, 1}));
  problem.fixed_times = {0, 1};
  EXPECT_EQ(map_exact_routed(problem, {}).makespan, 2);
  problem.ii = 0;
  EXPECT_THROW(map_exact_routed(problem, {}), Error);
}

// One question is enough to refute the placement tier's bound, not to find out that nothing helps.
TEST(RoutedMapper, StopsAtItsLimit) {
  MappingProblem problem;
  problem.fabric.columns = 2;
  problem.fabric.delay_registers = 0;
  problem.ii = 4;
  problem.graph.nodes = {{.name = "source", .op = Opcode::kCopy}, {.name = "reader", .op = Opcode::kCopy}};
  problem.graph.nodes[0].operands = {{.kind = OperandKind::kConstant}};
  problem.graph.nodes[1].operands = {{.kind = OperandKind::kNode, .index = 0}};
  problem.fixed_times = {0, 9};
  GraphMapperOptions options;
  options.limits.evaluations = 1;
  const MappingResult result = map_exact_routed(problem, options);
  EXPECT_FALSE(result.mapping);
  EXPECT_EQ(result.status, SearchStatus::kStopped);
  EXPECT_EQ(result.lower_bound, 11);
}

MappingProblem paper_problem(const std::string& name, int ii) {
  MappingProblem problem;
  problem.graph =
      read_graph_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/" + name + ".json").graph;
  problem.fabric = find_fabric("streaming-engine", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  problem.rules.routed = true;
  return problem;
}

// Reference 1.5: with one delay register the optimum of every cell is that of the placement tier; without
// any, the inner loop of the IFFT at II = 3 rises to 21.
TEST(RoutedMapper, PaperGraphsAsRecorded) {
  const std::map<std::string, std::vector<int>> table{{"vector_add", {7, 7, 7, 7, 7, 7}},
                                                      {"multiply_add", {11, 10, 11, 9, 9, 10}},
                                                      {"distance", {16, 13, 15, 13, 13, 13}},
                                                      {"ifft", {0, 18, 19, 17, 17, 18}}};
  for (const auto& [name, makespans] : table) {
    for (int ii = 1; ii <= 6; ++ii) {
      for (const int registers : {1, 0}) {
        MappingProblem problem = paper_problem(name, ii);
        problem.fabric.delay_registers = registers;
        const MappingResult result = map_exact_routed(problem, {});
        const bool rises = registers == 0 && name == "ifft" && ii == 3;
        const int expected = rises ? 21 : makespans[ii - 1];
        if (expected == 0) {
          EXPECT_EQ(result.status, SearchStatus::kInfeasible);
          continue;
        }
        ASSERT_EQ(result.status, SearchStatus::kOptimal) << name << " II " << ii;
        EXPECT_EQ(result.makespan, expected) << name << " II " << ii << " registers " << registers;
        EXPECT_EQ(result.lower_bound, expected);
        EXPECT_TRUE(check_mapping(problem, *result.mapping).empty());
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
