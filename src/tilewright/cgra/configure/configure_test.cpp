// What a mapping becomes: shared ways, registers that follow their values, flows and memories; and what is
// refused.
#include "tilewright/cgra/configure/configure.h"

#include <gtest/gtest.h>

namespace tilewright::cgra {
namespace {

MappingProblem problem_of(DataflowGraph graph, const std::string& fabric, int ii) {
  MappingProblem problem;
  problem.graph = std::move(graph);
  problem.fabric = find_fabric(fabric, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = ii;
  problem.rules.routed = true;
  return problem;
}

Operand from(int node, int distance = 0) { return {OperandKind::kNode, node, distance, 0, {}}; }
Operand variable(int index) { return {OperandKind::kVariable, index, 0, 0, {}}; }
Operand thread() { return {OperandKind::kThread, -1, 0, 0, {}}; }

// a on tile 0, read by b on tile 2 and, two clocks later, by c there.
MappingProblem fork() {
  DataflowGraph graph;
  graph.name = "fork";
  graph.nodes = {{.name = "a", .op = Opcode::kCopy, .operands = {thread()}},
                 {.name = "b", .op = Opcode::kCopy, .operands = {from(0)}},
                 {.name = "c", .op = Opcode::kNegate, .operands = {from(0)}}};
  return problem_of(graph, "line-4", 3);
}
GraphMapping fork_mapping() {
  return {3, {{0, 0}, {2, 5}, {2, 7}}, {{{0, 3}, {2, 5}}, {{0, 3}, {1, 4}, {2, 5}, {2, 6}, {2, 7}}}};
}

std::string error_of(const MappingProblem& problem, const GraphMapping& mapping) {
  try {
    configure(problem, mapping);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Configure, OneWayForAllConsumers) {
  const Configuration made = configure(fork(), fork_mapping());
  ASSERT_EQ(made.tiles.size(), 2u) << print_configuration(made);  // tile 1 is on no way that is needed
  EXPECT_EQ(made.tiles[0].spoke[0].outputs,
            (std::vector<SpokeEntry::Output>{{2, {ValueSource::Kind::kResult, 0}}}));
  const TileConfiguration& two = made.tiles[1];
  ASSERT_EQ(two.spoke.size(), 3u);
  const ValueSource link{ValueSource::Kind::kLink, 0}, kept{ValueSource::Kind::kRegister, 0};
  EXPECT_EQ(two.spoke[2].inputs, std::vector<ValueSource>{link});  // slot 2: b starts
  EXPECT_EQ(two.spoke[2].registers, (std::vector<SpokeEntry::Keep>{{0, link}}));
  EXPECT_EQ(two.spoke[0].registers, (std::vector<SpokeEntry::Keep>{{0, kept}}));
  EXPECT_EQ(two.spoke[1].inputs, std::vector<ValueSource>{kept});  // slot 1: c starts
  EXPECT_EQ(two.spoke[1].clock, 7);
}

TEST(Configure, FlowsWaitForTheirVariables) {
  DataflowGraph graph;
  graph.variables = {{.name = "x", .entries = 4}, {.name = "given"}, {.name = "unread"}};
  graph.nodes = {{.name = "sum", .op = Opcode::kAdd, .operands = {variable(0), from(0, 2)}, .sends = 2},
                 {.name = "source", .op = Opcode::kAdd, .operands = {variable(1), variable(1)}, .sends = 0}};
  const Configuration made =
      configure(problem_of(graph, "line-4", 2), {2, {{1, 5}, {0, 2}}, {{{1, 8}, {1, 9}}}});
  ASSERT_EQ(made.flows.size(), 2u);
  EXPECT_EQ(made.flows[0], (FlowConfiguration{5, {"x"}, {}, 2}));
  EXPECT_EQ(made.flows[1], (FlowConfiguration{2, {"given"}, {"x"}, 0}));
  EXPECT_EQ(made.tiles[0].variables, (std::vector<MemoryVariable>{{"given", 16, {}, 2, 1}}));
  EXPECT_EQ(made.tiles[1].variables, (std::vector<MemoryVariable>{{"x", 4, {}, 1, -1}}));
  EXPECT_FALSE(made.tiles[1].instructions[0].sends) << "nobody reads the variable";
  EXPECT_EQ(made.tiles[1].instructions[0].operands[1].initial, (std::vector<int32_t>{0, 0}));
}

TEST(Configure, RefusesMappingsThatBreakARule) {
  GraphMapping mapping = fork_mapping();
  mapping.routes.clear();
  EXPECT_NE(error_of(fork(), mapping).find("the mapping of graph 'fork' is invalid:\n  0 routes for 2 edges"),
            std::string::npos)
      << error_of(fork(), mapping);
}

TEST(Configure, RefusesReadersOfAnAsynchronousLoad) {
  MappingProblem problem = fork();
  problem.graph.variables = {{.name = "x"}};
  problem.graph.arrays = {{"data"}};
  problem.graph.nodes[0].op = Opcode::kLoad;
  problem.graph.nodes[0].array = 0;
  problem.graph.nodes[0].sends = 0;
  const std::string text = error_of(problem, fork_mapping());
  EXPECT_NE(text.find("its value comes as a message at no fixed clock; 'b' cannot read it"),
            std::string::npos);
  EXPECT_NE(text.find("'c' cannot read it"), std::string::npos);
  problem.fabric.memory_interfaces = 0;
  EXPECT_EQ(error_of(problem, fork_mapping()), "");
}

TEST(Configure, RefusesPeriodsWithoutEnd) {
  DataflowGraph graph;
  graph.name = "carried";
  graph.nodes = {{.name = "a", .op = Opcode::kAdd, .operands = {from(0, 4099), thread()}}};
  GraphMapping mapping{1, {{0, 0}}, {{}}};
  for (int clock = 3; clock <= 4099; ++clock) mapping.routes[0].push_back({0, clock});
  MappingProblem problem = problem_of(graph, "line-4", 1);
  problem.fabric.delay_registers = 5000;
  EXPECT_EQ(error_of(problem, mapping), "") << "it never waits";
  problem.graph.variables = {{.name = "x"}};
  problem.graph.nodes[0].operands[1] = variable(0);
  EXPECT_NE(error_of(problem, mapping).find("flow 0 repeats after more than 4096 threads only"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright::cgra
