// The published graphs' optima, conflicts with exactly the nodes and rules that make them, and behaviour at
// limits.
#include "tilewright/cgra/exact/exact_mapper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "support/cgra/generated_graphs_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/exact/ii_front.h"
#include "tilewright/cgra/exact/refutation.h"
#include "tilewright/cgra/heuristic/branch_and_bound.h"

namespace tilewright::cgra {
namespace {

using Pairs = std::vector<std::array<int, 2>>;

// Nodes are added in an order in which operands come first or not, as `edges` say.
MappingProblem line_problem(int nodes, const Pairs& edges, const Pairs& shared, int ii) {
  MappingProblem problem;
  problem.graph.name = "test";
  for (int node = 0; node < nodes; ++node)
    problem.graph.nodes.push_back({.name = "n" + std::to_string(node)});
  for (const auto& [from, to] : edges)
    problem.graph.nodes[to].operands.push_back({.kind = OperandKind::kNode, .index = from});
  for (const auto& [a, b] : shared) {
    const int variable = int(problem.graph.variables.size());
    problem.graph.variables.push_back({.name = "v" + std::to_string(variable)});
    for (const int node : {a, b})
      problem.graph.nodes[node].operands.push_back({.kind = OperandKind::kVariable, .index = variable});
  }
  for (DataflowNode& node : problem.graph.nodes) {
    while (node.operands.size() < 2) node.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
    if (node.operands.size() == 3) node.then = Opcode::kAdd;
  }
  problem.fabric = find_fabric("streaming-engine", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

MappingProblem ifft(int ii) {
  return line_problem(17,
                      {{1, 2},
                       {1, 3},
                       {2, 4},
                       {2, 6},
                       {3, 6},
                       {4, 5},
                       {6, 7},
                       {6, 8},
                       {8, 9},
                       {10, 11},
                       {11, 12},
                       {11, 13},
                       {13, 14},
                       {14, 15}},
                      {{7, 9}, {10, 11}, {14, 15}}, ii);
}

int optimum(const MappingProblem& problem) {
  const MappingResult result = map_exact(problem, {});
  if (result.status == SearchStatus::kInfeasible) return -1;
  EXPECT_EQ(result.status, SearchStatus::kOptimal);
  EXPECT_EQ(result.lower_bound, result.makespan);
  EXPECT_TRUE(check_mapping(problem, result.mapping.value()).empty());
  return result.makespan;
}

TEST(ExactMapper, OptimaOfThePublishedGraphs) {
  std::vector<int> chain, vectors, distance, butterfly;
  for (int ii = 1; ii <= 6; ++ii) {
    chain.push_back(optimum(line_problem(3, {{0, 1}, {1, 2}}, {}, ii)));
    vectors.push_back(optimum(line_problem(7, {{0, 1}, {0, 2}, {3, 4}}, {}, ii)));
    distance.push_back(optimum(line_problem(7, {{0, 3}, {1, 4}, {3, 5}, {4, 5}, {5, 6}, {2, 6}}, {}, ii)));
    butterfly.push_back(optimum(ifft(ii)));
  }
  EXPECT_EQ(chain, (std::vector<int>{11, 10, 11, 9, 9, 10}));
  EXPECT_EQ(vectors, (std::vector<int>{7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(distance, (std::vector<int>{16, 13, 15, 13, 13, 13}));
  EXPECT_EQ(butterfly, (std::vector<int>{-1, 18, 19, 17, 17, 18}));
}

TEST(ExactMapper, MoreOperationsThanSlotsIsAConflict) {
  const MappingResult result = map_exact(line_problem(19, {{0, 1}, {1, 2}, {2, 3}}, {}, 1), {});
  ASSERT_EQ(result.status, SearchStatus::kInfeasible);
  EXPECT_EQ(result.conflict->rules, std::vector<Rule>{Rule::kSlot});
  EXPECT_EQ(result.conflict->nodes.size(), 17u);
  EXPECT_NE(result.conflict->text.find("17 operations need a slot each; 16 tiles have 1 each"),
            std::string::npos);
  // Two nodes of one tile would be a conflict too; the plainest rule is told.
  EXPECT_EQ(map_exact(ifft(1), {}).conflict->rules, std::vector<Rule>{Rule::kSlot});
}

TEST(ExactMapper, SiblingsThatShareAVariableAreNamed) {
  MappingProblem problem = ifft(6);
  problem.graph.variables.push_back({.name = "shared"});
  for (const int node : {7, 8})
    problem.graph.nodes[node].operands.back() = {.kind = OperandKind::kVariable, .index = 3};
  const MappingResult result = map_exact(problem, {});
  ASSERT_EQ(result.status, SearchStatus::kInfeasible);
  EXPECT_EQ(result.conflict->nodes, (std::vector<int>{7, 8}));
  EXPECT_EQ(result.conflict->rules, (std::vector<Rule>{Rule::kVariable, Rule::kSiblings}));
  problem.rules.siblings_apart = false;
  EXPECT_GT(optimum(problem), 0);
  problem.rules.siblings_apart = true;
  problem.rules.variables_together = false;
  EXPECT_GT(optimum(problem), 0);
}

TEST(ExactMapper, WaitsThatAreForbiddenCanMakeItImpossible) {
  MappingProblem problem = ifft(3);
  problem.rules.delay = Delay::kNone;
  const MappingResult result = map_exact(problem, {});
  ASSERT_EQ(result.status, SearchStatus::kInfeasible);
  // Three clocks later on the same tile is the same slot.
  EXPECT_EQ(result.conflict->rules, (std::vector<Rule>{Rule::kSlot, Rule::kTiming, Rule::kVariable}));
  EXPECT_EQ(result.conflict->nodes.size(), 2u);
}

// A second opinion that shares neither formula nor symmetries, on fabrics with many of these.
TEST(ExactMapper, AgreesWithBranchAndBound) {
  int compared = 0;
  for (const char* fabric : {"mesh-3x3", "torus-3x3", "hycube-3x3", "ring-6", "line-9"}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      MappingProblem problem;
      problem.graph = generate_random_graph({.nodes = 7}, seed);
      problem.fabric = find_fabric(fabric, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
      problem.fabric.tile_memories = 2;
      problem.fabric.tile_memory_entries = 4096;
      problem.ii = 1 + int(seed % 3);
      problem.rules = usual_rules(problem.fabric);
      problem.rules.siblings_apart = seed % 2 == 0;
      const MappingResult other = map_branch_and_bound(problem, {.limits = {.nodes = 20000}});
      if (other.status != SearchStatus::kOptimal && other.status != SearchStatus::kInfeasible) continue;
      const MappingResult exact = map_exact(problem, {});
      EXPECT_EQ(exact.status, other.status) << fabric << " " << seed;
      EXPECT_EQ(exact.makespan, other.makespan) << fabric << " " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(ExactMapper, LimitsLeaveABoundAndAMapping) {
  GeneratedGraph made = generate_flow_graph(40, 16, 0);
  MappingProblem problem = ifft(made.ii);
  problem.graph = std::move(made.graph);
  const MappingResult all = map_exact(problem, {});
  ASSERT_EQ(all.status, SearchStatus::kOptimal);
  ASSERT_GT(all.counts.evaluations, 1);
  const MappingResult some = map_exact(problem, {.limits = {.evaluations = 1}});
  EXPECT_EQ(some.counts.evaluations, 1);
  EXPECT_EQ(some.status, SearchStatus::kFeasible);
  EXPECT_LE(some.lower_bound, all.makespan);
  EXPECT_GT(some.makespan, some.lower_bound);
  EXPECT_TRUE(check_mapping(problem, some.mapping.value()).empty());
  EXPECT_EQ(map_exact(problem, {}).mapping, all.mapping);  // the same every time
}

TEST(ExactMapper, ReleasesAndTailsOfParts) {
  PlacementConstraints constraints = placement_constraints(line_problem(3, {{0, 1}, {1, 2}}, {}, 5));
  EXPECT_EQ(solve_exact(constraints, {}, {}).makespan, 9);
  constraints.release_cycles = {0, 10, 0};
  EXPECT_EQ(solve_exact(constraints, {}, {}).makespan, 16);
  constraints.tail_cycles = {40, 3, 3};
  const MappingResult result = solve_exact(constraints, {}, {});
  EXPECT_EQ(result.makespan, 40);
  EXPECT_EQ(result.status, SearchStatus::kOptimal);
  EXPECT_GE(result.mapping->places[1].time, 10);
}

TEST(ExactMapper, ReportsBadProblemsTogether) {
  MappingProblem problem = ifft(0);
  problem.fixed_tiles = {99};
  problem.graph.nodes[0].operands.resize(6, {.kind = OperandKind::kNode, .index = 77});
  try {
    map_exact(problem, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("0 is outside 1..64"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("6 operands"), std::string::npos);
  }
}

TEST(Refutation, ShorterSchedulesOfThePublishedGraphsHaveCheckedProofs) {
  for (int ii = 2; ii <= 6; ++ii) {
    MappingProblem problem = ifft(ii);
    problem.graph.name = "ifft";
    const int best = optimum(problem);
    for (const bool plain : {true, false}) {
      const Refutation shorter = refute(problem, best - 1, testing::TempDir(), {.plain = plain});
      EXPECT_EQ(shorter.answer, Satisfiable::kNo);
      EXPECT_TRUE(shorter.check.proven) << ii << " " << shorter.check.problem;
    }
    EXPECT_EQ(refute(problem, best, testing::TempDir()).answer, Satisfiable::kYes);
  }
  MappingProblem problem = ifft(3);
  problem.rules.delay = Delay::kNone;
  EXPECT_TRUE(refute(problem, kAnyLength, testing::TempDir()).check.proven);
  const Refutation crowded = refute(ifft(1), kAnyLength, testing::TempDir());
  EXPECT_TRUE(crowded.check.proven);
  EXPECT_GT(crowded.check.clauses, 100);
  // a -> b -> a one thread later at II 1: six clocks in one. No formula of tiles and slots says so.
  problem = line_problem(2, {{0, 1}}, {}, 1);
  problem.graph.nodes[0].operands[0] = {.kind = OperandKind::kNode, .index = 1, .distance = 1};
  EXPECT_EQ(map_exact(problem, {}).conflict->rules, std::vector<Rule>{Rule::kTiming});
  EXPECT_EQ(refute(problem, kAnyLength, testing::TempDir()).answer, Satisfiable::kUnknown);
}

// The shortest schedule may be a single clock: none at all is shorter, and that is not the question of any
// length.
TEST(Refutation, NoScheduleIsShorterThanAnOperation) {
  MappingProblem problem = line_problem(1, {}, {}, 1);
  problem.fabric = find_fabric("mesh-2x2", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.rules = usual_rules(problem.fabric);
  ASSERT_EQ(optimum(problem), 1);
  for (const bool plain : {true, false}) {
    const Refutation none = refute(problem, 0, testing::TempDir(), {.plain = plain});
    EXPECT_EQ(none.answer, Satisfiable::kNo);
    EXPECT_TRUE(none.check.proven) << none.check.problem;
    EXPECT_EQ(none.proof.filename(), "test-ii1-0.drat");
  }
  EXPECT_EQ(refute(problem, kAnyLength, testing::TempDir()).answer, Satisfiable::kYes);
}

TEST(RefutationClass, FilesLieInTheFolderWhateverTheGraphsName) {
  namespace fs = std::filesystem;
  const fs::path above = fs::path(testing::TempDir()) / ("refutation" + std::to_string(::getpid()));
  const fs::path folder = above / "a/b";
  fs::create_directories(folder);
  Random random(test_seed());
  MappingProblem problem = line_problem(1, {}, {}, 1);
  std::vector<std::string> names = {"fir 3/4", "../../escaped", "/escaped", "..", "", std::string(300, 'x')};
  for (int64_t i = 0; i < test_cases(20); ++i) {
    std::string& name = names.emplace_back();
    for (int64_t left = random.between(1, 12); left > 0; --left) name += char(random.between(1, 255));
  }
  for (const std::string& name : names) {
    problem.graph.name = name;
    const Refutation made = refute(problem, 0, folder);
    EXPECT_EQ(made.answer, Satisfiable::kNo) << name;
    for (const fs::path& file : {made.formula, made.proof}) {
      EXPECT_EQ(file.parent_path(), folder) << name;
      EXPECT_TRUE(fs::remove(file)) << name;
    }
  }
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(above), {}), 2);
  fs::remove_all(above);
}

TEST(IiFront, ShortestSchedulesAgainstIi) {
  const IiFront front = find_ii_front(ifft(1), map_exact, 1, 8, {});
  std::vector<int> on_front;
  for (const IiPoint& point : front.points) {
    if (point.on_front) on_front.push_back(point.ii);
  }
  EXPECT_EQ(on_front.front(), 2);
  EXPECT_EQ(on_front[1], 4);
  const IiFront chain = find_ii_front(line_problem(3, {{0, 1}, {1, 2}}, {}, 1), map_exact, 1, 8, {});
  EXPECT_TRUE(chain.proven);
  ASSERT_EQ(chain.points.size(), 4u);  // 9 clocks, the critical path
  EXPECT_FALSE(chain.points[2].on_front);
  const IiFront vectors =
      find_ii_front(line_problem(7, {{0, 1}, {0, 2}, {3, 4}}, {}, 1), map_exact, 1, 20, {});
  EXPECT_TRUE(vectors.proven);
  EXPECT_EQ(vectors.points.size(), 7u);  // 7 clocks within an II of 7
}

}  // namespace
}  // namespace tilewright::cgra
