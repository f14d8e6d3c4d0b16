// Every rule of the checker at its limit: what just fits is accepted, one step more is a violation of that
// rule alone.
#include <gtest/gtest.h>

#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {
namespace {

using Broken = std::vector<Rule>;

Operand from(int index, int distance = 0) {
  return {.kind = OperandKind::kNode, .index = index, .distance = distance};
}

DataflowNode node(const std::string& name, std::vector<Operand> operands, Opcode op = Opcode::kAdd) {
  DataflowNode made{.name = name, .op = op, .operands = std::move(operands)};
  while (made.operands.size() < 2) made.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
  return made;
}

// Tiles in a line, a clock per tile, results after 3 clocks, no rules about starters and siblings.
MappingProblem problem_of(std::vector<DataflowNode> nodes, int ii) {
  MappingProblem problem;
  problem.graph = {.name = "g", .nodes = std::move(nodes)};
  problem.fabric.columns = 6;
  problem.fabric.operation_latency_cycles = 3;
  problem.fabric.cycles_per_distance = 1;
  problem.fabric.delay_registers = 2;
  problem.ii = ii;
  return problem;
}

Broken broken_limits(const MappingProblem& problem, const std::vector<Place>& places,
                     const std::vector<Route>& routes = {}) {
  Broken rules;
  for (const Violation& violation : check_mapping(problem, {problem.ii, places, routes}))
    rules.push_back(violation.rule);
  return rules;
}

TEST(CheckLimits, Shape) {
  const MappingProblem problem = problem_of({node("a", {})}, 2);
  EXPECT_EQ(broken_limits(problem, {{0, 0}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{5, 0}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{6, 0}}), Broken{Rule::kShape});
  EXPECT_EQ(broken_limits(problem, {{-1, 0}}), Broken{Rule::kShape});
  EXPECT_EQ(broken_limits(problem, {{0, -1}}), Broken{Rule::kShape});
  EXPECT_EQ(broken_limits(problem, {}), Broken{Rule::kShape});
  EXPECT_EQ(check_mapping(problem, {3, {{0, 0}}, {}}).size(), 1u);
  MappingProblem routed = problem;
  routed.rules.routed = true;
  EXPECT_EQ(broken_limits(routed, {{0, 0}}, {{}}), Broken{Rule::kShape});
}

TEST(CheckLimits, Slots) {
  const MappingProblem problem = problem_of({node("a", {}), node("b", {})}, 3);
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {1, 1}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {2, 3}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {1, 6}}), Broken{Rule::kSlot});
}

TEST(CheckLimits, Arrival) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {from(0)})}, 4);
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {1, 3}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {1, 2}}), Broken{Rule::kTiming});
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {4, 6}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{4, 0}, {1, 5}}), Broken{Rule::kTiming});
  // A value of two iterations ago has two II more.
  problem.graph.nodes[1] = node("b", {from(0, 2)});
  EXPECT_EQ(broken_limits(problem, {{1, 5}, {1, 0}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{1, 6}, {1, 0}}), Broken{Rule::kTiming});
  // A distance that no time between the two can make up for in 32 bits.
  problem.ii = 65536;
  problem.graph.nodes[1] = node("b", {from(0, 65536)});
  EXPECT_EQ(broken_limits(problem, {{1, 0}, {1, 1}}), Broken{});
}

// Links that lead nowhere: time does not help.
TEST(CheckLimits, NoWayBetweenTiles) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {from(0)})}, 4);
  problem.fabric.spans = {2};
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 5}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {1, 50}}), Broken{Rule::kTiming});
  problem.rules.delay = Delay::kNone;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {1, 2}}), Broken{Rule::kTiming});
}

TEST(CheckLimits, Waits) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {from(0)})}, 4);
  problem.rules.delay = Delay::kNone;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 5}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 6}}), Broken{Rule::kTiming});
  problem.rules.delay = Delay::kBounded;
  problem.rules.delay_per_hop = 3;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 11}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 12}}), Broken{Rule::kTiming});
  EXPECT_EQ(broken_limits(problem, {{2, 0}, {2, 6}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{2, 0}, {2, 7}}), Broken{Rule::kTiming});
  problem.rules.delay = Delay::kUnbounded;
  EXPECT_EQ(broken_limits(problem, {{2, 0}, {2, 7003}}), Broken{});
}

TEST(CheckLimits, StartersAndSiblings) {
  MappingProblem problem =
      problem_of({node("a", {}), node("b", {from(0)}), node("c", {from(0)}), node("d", {})}, 8);
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {1, 4}, {1, 5}, {0, 1}}), Broken{});
  problem.rules.siblings_apart = true;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {1, 4}, {1, 5}, {0, 1}}), Broken{Rule::kSiblings});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 3}, {1, 5}, {0, 1}}), Broken{});
  problem.rules.starters_apart = StarterRule::kFlows;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 3}, {1, 5}, {0, 1}}), Broken{Rule::kStarters});
  // Of one flow only its first starter counts, of roots each.
  problem.graph.nodes[1] = node("b", {from(0), from(3)});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 4}, {1, 5}, {0, 1}}), Broken{});
  problem.rules.starters_apart = StarterRule::kRoots;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 4}, {1, 5}, {0, 1}}), Broken{Rule::kStarters});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 5}, {1, 5}, {1, 1}}), Broken{});
  // Reading an earlier iteration alone makes a starter.
  problem = problem_of({node("a", {from(1, 1)}), node("b", {from(0, 1)})}, 8);
  problem.rules.starters_apart = StarterRule::kRoots;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}}), Broken{Rule::kStarters});
  // A node that reads a value twice is no sibling of itself.
  problem = problem_of({node("a", {}), node("b", {from(0), from(0)})}, 8);
  problem.rules.siblings_apart = true;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 3}}), Broken{});
}

TEST(CheckLimits, FixedPlacesAndMemoryColumns) {
  MappingProblem problem = problem_of({node("a", {})}, 2);
  problem.fixed_tiles = {3};
  EXPECT_EQ(broken_limits(problem, {{3, 1}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{2, 1}}), Broken{Rule::kFixed});
  problem.fixed_tiles.clear();
  problem.fixed_times = {5};
  EXPECT_EQ(broken_limits(problem, {{2, 5}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{2, 1}}), Broken{Rule::kFixed});
  problem.fixed_times = {std::nullopt};
  EXPECT_EQ(broken_limits(problem, {{2, 1}}), Broken{});
  problem = problem_of({node("a", {}, Opcode::kLoad)}, 2);
  problem.fabric.rows = 2;
  EXPECT_EQ(broken_limits(problem, {{1, 0}}), Broken{});
  problem.fabric.memory_left_column_only = true;
  EXPECT_EQ(broken_limits(problem, {{0, 0}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{6, 0}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{1, 0}}), Broken{Rule::kMemoryTile});
  EXPECT_EQ(broken_limits(problem, {{11, 0}}), Broken{Rule::kMemoryTile});
  problem.graph.nodes[0].op = Opcode::kAdd;
  EXPECT_EQ(broken_limits(problem, {{1, 0}}), Broken{});
}

TEST(CheckLimits, Storage) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {}), node("c", {})}, 4);
  problem.fabric.instructions = 2;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}, {1, 2}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}, {0, 2}}), Broken{Rule::kInstructions});
  problem.graph.variables = {{.name = "v", .entries = 5}, {.name = "w", .table = {1, 2, 3}}};
  problem.graph.nodes[0].writes = 0;
  problem.graph.nodes[1] = {
      .name = "b", .op = Opcode::kLookup, .operands = {{.kind = OperandKind::kVariable, .index = 1}, {}}};
  problem.fabric.tile_memories = 2;
  problem.fabric.tile_memory_entries = 4;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}, {1, 2}}), Broken{});
  problem.graph.variables[0].entries = 6;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}, {1, 2}}), Broken{Rule::kTileMemory});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 1}, {1, 2}}), Broken{});
  // Two nodes of one variable need its room once, and one tile.
  problem.graph.nodes[2].writes = 0;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 1}, {0, 2}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 1}, {1, 2}}), Broken{Rule::kVariable});
  problem.rules.variables_together = false;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 1}, {1, 2}}), Broken{});
}

// a feeds c over b's tile, and b feeds c from its own.
TEST(CheckLimits, LinksAndPassingValues) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {}), node("c", {from(0), from(1)})}, 4);
  problem.rules.routed = true;
  const std::vector<Place> places = {{0, 0}, {1, 0}, {2, 6}};
  const Route over = {{0, 3}, {1, 4}, {2, 5}, {2, 6}};
  EXPECT_EQ(broken_limits(problem, places, {over, {{1, 3}, {2, 4}, {2, 5}, {2, 6}}}), Broken{});
  // Both take the link from 1 to 2 in slot 0, then the same registers.
  EXPECT_EQ(broken_limits(problem, places, {over, {{1, 3}, {1, 4}, {2, 5}, {2, 6}}}), Broken{Rule::kLink});
  problem.fabric.delay_registers = 1;
  EXPECT_EQ(broken_limits(problem, places, {over, {{1, 3}, {2, 4}, {2, 5}, {2, 6}}}),
            Broken{Rule::kDelayRegister});
  problem.fabric.delay_registers = 2;
  // A link takes a clock, waiting too, and both end where the consumer is.
  EXPECT_EQ(broken_limits(problem, places, {{{0, 3}, {2, 5}, {2, 6}}, {{1, 3}, {2, 4}, {2, 5}, {2, 6}}}),
            Broken{Rule::kRoute});
  EXPECT_EQ(broken_limits(problem, places, {over, {{1, 3}, {2, 4}, {2, 6}}}), Broken{Rule::kRoute});
  EXPECT_EQ(broken_limits(problem, places, {{{0, 3}, {1, 4}, {2, 5}}, {{1, 3}, {2, 4}, {2, 5}, {2, 6}}}),
            Broken{Rule::kRoute});
  EXPECT_EQ(broken_limits(problem, places, {{}, {{1, 3}, {2, 4}, {2, 5}, {2, 6}}}), Broken{Rule::kRoute});
}

TEST(CheckLimits, PassThrough) {
  // a on tile 0 and d on tile 2 feed each other's neighbours through tile 1, in one slot.
  MappingProblem problem =
      problem_of({node("a", {}), node("b", {}), node("c", {from(0)}), node("d", {from(1)})}, 4);
  problem.rules.routed = true;
  const std::vector<Place> places = {{0, 0}, {2, 0}, {2, 5}, {0, 5}};
  const std::vector<Route> routes = {{{0, 3}, {1, 4}, {2, 5}}, {{2, 3}, {1, 4}, {0, 5}}};
  EXPECT_EQ(broken_limits(problem, places, routes), Broken{});  // 0: no limit
  problem.fabric.pass_through = 2;
  EXPECT_EQ(broken_limits(problem, places, routes), Broken{});
  problem.fabric.pass_through = 1;
  EXPECT_EQ(broken_limits(problem, places, routes), Broken{Rule::kPassThrough});
  // One value that leaves by two links passes once.
  problem.graph.nodes[3] = node("d", {from(0)});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {3, 0}, {2, 5}, {2, 6}},
                          {{{0, 3}, {1, 4}, {2, 5}}, {{0, 3}, {1, 4}, {2, 5}, {2, 6}}}),
            Broken{});
}

// A value that waits longer than an II meets itself of the next thread.
TEST(CheckLimits, ThreadsOfOneValueCountApart) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {from(0)})}, 2);
  problem.rules.routed = true;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 5}}, {{{0, 3}, {0, 4}, {0, 5}}}), Broken{});
  problem.fabric.delay_registers = 1;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 5}}, {{{0, 3}, {0, 4}, {0, 5}}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 7}}, {{{0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}}),
            (Broken{Rule::kDelayRegister, Rule::kDelayRegister}));
  // Carried to an iteration whose clocks count from before the consumer's.
  problem.graph.nodes[1] = node("b", {from(0, 2)});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {0, 1}}, {{{0, 3}, {0, 4}, {0, 5}}}), Broken{});
}

TEST(CheckLimits, HopsWithinAClock) {
  MappingProblem problem = problem_of({node("a", {}), node("b", {from(0)})}, 2);
  problem.fabric.operation_latency_cycles = 1;
  problem.fabric.cycles_per_distance = 0;
  problem.fabric.hops_per_cycle = 2;
  problem.rules.routed = true;
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {2, 1}}, {{{0, 1}, {1, 1}, {2, 1}}}), Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {4, 2}}, {{{0, 1}, {1, 1}, {2, 1}, {2, 2}, {3, 2}, {4, 2}}}),
            Broken{});
  EXPECT_EQ(broken_limits(problem, {{0, 0}, {4, 2}}, {{{0, 1}, {1, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 2}}}),
            Broken{Rule::kHops});
}

}  // namespace
}  // namespace tilewright::cgra
