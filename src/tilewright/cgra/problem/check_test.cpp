// The checker on hand-made mappings: every rule fires, alone, and a valid mapping passes.
#include "tilewright/cgra/problem/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {
namespace {

const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

DataflowNode plain_node(const std::string& name, std::vector<int> from) {
  DataflowNode made{.name = name};
  for (const int index : from) made.operands.push_back({.kind = OperandKind::kNode, .index = index});
  while (made.operands.size() < 2) made.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
  return made;
}

// a -> b, a -> c, (b, c) -> d; b and d share a variable.
MappingProblem diamond(const std::string& fabric = "line-8") {
  MappingProblem problem;
  problem.graph.name = "diamond";
  problem.graph.nodes = {plain_node("a", {}), plain_node("b", {0}), plain_node("c", {0}),
                         plain_node("d", {1, 2})};
  problem.graph.variables = {{.name = "v"}};
  problem.graph.nodes[1].writes = 0;
  problem.graph.nodes[3].writes = 0;
  problem.fabric = find_fabric(fabric, kPresets);
  problem.ii = 4;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

GraphMapping good() { return {.ii = 4, .places = {{1, 0}, {2, 5}, {1, 3}, {2, 8}}}; }

std::vector<Rule> broken(const MappingProblem& problem, const GraphMapping& mapping) {
  std::vector<Rule> rules;
  for (const Violation& violation : check_mapping(problem, mapping)) {
    EXPECT_FALSE(violation.text.empty());
    rules.push_back(violation.rule);
  }
  return rules;
}

TEST(Check, AcceptsAValidMapping) {
  EXPECT_TRUE(broken(diamond(), good()).empty());
  EXPECT_EQ(makespan_cycles(good(), 3), 11);
}

TEST(Check, EveryPlacementRuleFires) {
  using Rules = std::vector<Rule>;
  GraphMapping m = good();
  m.places[2].time = 4;  // slot 0 of tile 1 is a's
  EXPECT_EQ(broken(diamond(), m), (Rules{Rule::kSlot}));
  m = good();
  m.places[3].time = 6;
  EXPECT_EQ(broken(diamond(), m), (Rules{Rule::kTiming, Rule::kTiming}));
  m = good();
  m.places[3] = {3, 10};
  EXPECT_EQ(broken(diamond(), m), (Rules{Rule::kVariable}));
  m = good();
  m.places[2] = {2, 4};
  m.places[3].time = 10;
  EXPECT_EQ(broken(diamond(), m), (Rules{Rule::kSiblings}));
  m = good();
  m.places[0].tile = 99;
  EXPECT_EQ(broken(diamond(), m), (Rules{Rule::kShape}));
  MappingProblem problem = diamond();
  problem.fixed_tiles = {0, {}, {}, {}};
  EXPECT_EQ(broken(problem, good()), (Rules{Rule::kFixed}));
  problem = diamond();
  problem.fabric.instructions = 1;
  EXPECT_EQ(broken(problem, good()), (Rules{Rule::kInstructions, Rule::kInstructions}));
  problem = diamond();
  problem.fabric.tile_memory_entries = 4;
  EXPECT_EQ(broken(problem, good()), (Rules{Rule::kTileMemory}));
  problem = diamond();
  problem.rules.delay = Delay::kNone;
  EXPECT_EQ(broken(problem, good()), (Rules{Rule::kTiming, Rule::kTiming}));
  problem.rules.delay = Delay::kBounded;
  EXPECT_TRUE(broken(problem, good()).empty());
}

TEST(Check, BothReadingsOfTheStarterRule) {
  MappingProblem problem = diamond();
  problem.graph.nodes[2] = plain_node("c", {});
  GraphMapping m = good();
  m.places[2] = {1, 1};
  EXPECT_EQ(broken(problem, m), std::vector<Rule>{Rule::kStarters});
  problem.rules.starters_apart = StarterRule::kFlows;
  EXPECT_TRUE(broken(problem, m).empty());
}

TEST(Check, RoutesAndTheirLimits) {
  MappingProblem problem = diamond();
  problem.rules.routed = true;
  GraphMapping m = good();
  // edges: a->b, a->c, b->d, c->d
  m.routes = {{{1, 3}, {2, 4}, {2, 5}}, {{1, 3}}, {{2, 8}}, {{1, 6}, {2, 7}, {2, 8}}};
  EXPECT_TRUE(broken(problem, m).empty());
  problem.fabric.delay_registers = 0;
  EXPECT_EQ(broken(problem, m), (std::vector<Rule>{Rule::kDelayRegister, Rule::kDelayRegister}));
  problem = diamond();
  problem.rules.routed = true;
  m.routes[0] = {{1, 3}, {2, 5}};  // one clock for one tile, not two
  EXPECT_EQ(broken(problem, m), std::vector<Rule>{Rule::kRoute});
  m.routes[0] = {{1, 3}, {3, 5}};
  EXPECT_EQ(broken(problem, m), std::vector<Rule>{Rule::kRoute});
}

TEST(Check, ModelAgreesOnPairs) {
  const PlacementModel model = compile_model(diamond());
  ASSERT_EQ(model.apart.size(), 1u);
  EXPECT_EQ(model.apart[0].cause, 0);
  EXPECT_EQ(model.unit[1], model.unit[3]);
  EXPECT_EQ(model.units.size(), 3u);
  EXPECT_EQ(model.least_gap(0, 5), 8);
}

// Sums of times stay within an int: what cannot be counted is refused, and is no proof of anything.
TEST(Check, FixedTimesHaveALimit) {
  for (const int time : {1 << 24, (1 << 24) + 1, 300000000, 2147483647}) {
    MappingProblem problem = diamond();
    problem.fixed_times = {{}, {}, time, {}};
    Diagnostics diagnostics;
    problem.verify(diagnostics);
    EXPECT_EQ(diagnostics.ok(), time == 1 << 24);
    if (diagnostics.ok()) continue;
    EXPECT_EQ(to_string(diagnostics.errors().at(0)),
              fmt::format("node 'c' (fixed): a time of {} clocks; at most 16777216", time));
  }
}

TEST(Check, BadProblemsAreReportedTogether) {
  MappingProblem problem = diamond();
  problem.ii = 0;
  problem.graph.nodes[0].operands = {{.kind = OperandKind::kNode, .index = 3}};
  problem.graph.nodes[2].operands.resize(5, {.kind = OperandKind::kNode, .index = 77});
  problem.fixed_tiles = {99, {}, {}, {}};
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  std::string all;
  for (const Diagnostic& d : diagnostics.errors()) all += to_string(d) + "\n";
  for (const char* text :
       {"operand 2 is undefined", "5 operands", "0 is outside 1..64", "tile 99 does not exist"}) {
    EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
  }
  problem = diamond();
  problem.graph.nodes[0].operands = {{.kind = OperandKind::kNode, .index = 3}};
  problem.fixed_tiles = {{}, 1, {}, 2};
  Diagnostics more;
  problem.graph.verify(3, more);
  EXPECT_NE(to_string(more.errors().at(0)).find("a cycle without distance among (or before) a, b, c, d"),
            std::string::npos);
  problem.graph.nodes[0].operands.clear();
  Diagnostics fixed;
  problem.verify(fixed);
  EXPECT_NE(to_string(fixed.errors().at(0)).find("which is fixed to tile 1"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::cgra
