// The routed tier: small problems against trying every place and every way, and the paper's graphs.
#include "tilewright/cgra/route/routed_mapper.h"

#include <gtest/gtest.h>

#include <map>

#include "tilewright/cgra/exact/brute_force.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/route/route_testing.h"

namespace tilewright::cgra {
namespace {

MappingProblem random_problem(Random& random) {
  MappingProblem problem;
  problem.fabric = random_fabric(random);
  problem.fabric.tile_memories = 1;
  problem.fabric.tile_memory_entries = 64;
  if (random.chance(0.7)) problem.fabric.delay_registers = 0;
  problem.ii = int(random.between(1, 2));
  problem.rules.routed = true;
  problem.rules.starters_apart = StarterRule(random.between(0, 2));
  problem.rules.siblings_apart = random.chance(0.5);
  problem.rules.delay = random.chance(0.7) ? Delay::kUnbounded : Delay::kBounded;
  const int nodes = int(random.between(2, 4));
  for (int node = 0; node < nodes; ++node) {
    Node next{.name = "n" + std::to_string(node)};
    for (int operand = 0; operand < 2; ++operand) {
      if (node > 0 && random.chance(0.6)) {
        next.operands.push_back({.kind = OperandKind::kNode, .index = int(random.between(0, node - 1))});
      } else if (random.chance(0.12)) {
        next.operands.push_back({.kind = OperandKind::kNode,
                                 .index = int(random.between(0, nodes - 1)),
                                 .distance = int(random.between(1, 2))});
      } else {
        next.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
      }
    }
    problem.graph.nodes.push_back(next);
  }
  if (random.chance(0.3)) {
    problem.graph.variables.push_back({.name = "v"});
    problem.graph.nodes[0].writes = problem.graph.nodes.back().writes = 0;
  }
  return problem;
}

// Brute force over places, then over ways; `sure` is false where some combination was too much to try.
std::optional<Mapping> try_everything(const MappingProblem& problem, int horizon, bool& sure) {
  MappingProblem places = problem;
  places.rules.routed = false;
  BruteForce search(places);
  search.accept = [&](const Mapping& mapping) {
    const int answer = routable({problem, mapping});
    if (answer < 0) sure = false;
    return answer > 0;
  };
  const auto found = search.find(horizon, 4000);
  if (!found && search.exhausted()) sure = false;
  return found;
}

TEST(RoutedMapper, EqualsTryingEverythingOnRandomProblems) {
  Random random(77);
  int mapped = 0, unmapped = 0, blocked = 0;
  for (int run = 0; run < 200; ++run) {
    const MappingProblem problem = random_problem(random);
    Diagnostics diagnostics;
    problem.verify(diagnostics);
    if (!diagnostics.ok()) continue;
    const int most = 8;
    bool sure = true;
    int horizon = 1;
    while (horizon <= most && !try_everything(problem, horizon, sure) && sure) ++horizon;
    if (!sure) continue;
    MappingProblem places = problem;
    places.rules.routed = false;
    const RoutedAnswer below = find_routed_mapping(problem, horizon - 1);
    EXPECT_EQ(below.exists, Satisfiable::kNo) << "run " << run << " horizon " << horizon;
    MapperOptions options;
    options.limits.evaluations = 30;
    const MappingResult result = map_exact_routed(problem, options);
    if (horizon > most) {
      ++unmapped;
      blocked += BruteForce(places).find(most, 4000).has_value();
      EXPECT_TRUE(result.status == SearchStatus::kInfeasible || result.lower_bound > most ||
                  (!result.mapping && result.status == SearchStatus::kStopped))
          << "run " << run;
      EXPECT_TRUE(!result.mapping || result.makespan > most);
      continue;
    }
    ++mapped;
    ASSERT_EQ(result.status, SearchStatus::kOptimal) << "run " << run;
    EXPECT_EQ(result.makespan, horizon) << "run " << run;
    EXPECT_EQ(result.lower_bound, horizon);
    EXPECT_TRUE(check_mapping(problem, *result.mapping).empty());
  }
  EXPECT_GT(mapped, 50);
  EXPECT_GT(unmapped, 50);
  EXPECT_GT(blocked, 5);  // ways, not places, decide
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
  MapperOptions options;
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
