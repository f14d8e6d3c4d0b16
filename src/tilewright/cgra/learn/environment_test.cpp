// The game of placement on random problems: complete episodes pass the checker, the bound holds and is met,
// the look-ahead closes nothing that leads to a placement, and a policy at random is fast enough.
#include "tilewright/cgra/learn/environment.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>

#include "tilewright/base/random.h"
#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {
namespace {

const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

struct Wish {
  int nodes = 12, ii = 4, groups = 2;
  int least_operands = 0;
  bool loops = false, fixed = false;
  Delay delay = Delay::kUnbounded;
};

MappingProblem random_problem(Random& random, const std::string& fabric, const Wish& wish) {
  MappingProblem problem;
  problem.graph.name = "random";
  problem.fabric = find_fabric(fabric, kPresets);
  problem.ii = wish.ii;
  problem.rules = usual_rules(problem.fabric);
  problem.rules.delay = wish.delay;
  for (int i = 0; i < wish.nodes; ++i) {
    DataflowNode node{.name = "n" + std::to_string(i)};
    for (int64_t k = random.between(wish.least_operands, 2); i > 0 && k > 0; --k) {
      const int from = int(random.between(std::max(0, i - 6), i - 1));
      node.operands.push_back({.kind = OperandKind::kNode, .index = from});
    }
    while (node.operands.size() < 2) node.operands.push_back({.value = 1});
    problem.graph.nodes.push_back(node);
  }
  if (wish.loops) {
    problem.graph.nodes[1].operands[1] = {.kind = OperandKind::kNode, .index = wish.nodes - 2, .distance = 4};
  }
  for (int group = 0; problem.fabric.tile_memories > 0 && group < wish.groups; ++group) {
    problem.graph.variables.push_back({.name = "v" + std::to_string(group)});
    for (int k = 0; k < 2; ++k) problem.graph.nodes[size_t(random.between(0, wish.nodes - 1))].writes = group;
  }
  if (wish.fixed) {
    problem.fixed_tiles.resize(size_t(wish.nodes));
    problem.fixed_times.resize(size_t(wish.nodes));
    problem.fixed_tiles.back() = 3;
    problem.fixed_times.back() = 40;
    problem.fixed_tiles.front() = 2;
  }
  return problem;
}

struct Tally {
  int complete = 0, dead = 0;
};

// Plays `episodes` at random and checks every complete one.
Tally play(const MappingProblem& problem, const EnvironmentOptions& options, int episodes, Random& random) {
  const PlacementInstance instance = compile_instance(compile_model(problem), PlacementOrder::kLongestTail);
  PlacementEnvironment environment(instance, options);
  Tally tally;
  for (int episode = 0; episode < episodes; ++episode) {
    environment.reset();
    double sum = 0;
    std::vector<int> bounds{environment.bound()};
    while (!environment.done()) {
      sum += environment.step(environment.random_row(random));
      bounds.push_back(environment.bound());
    }
    ++(environment.complete() ? tally.complete : tally.dead);
    if (!environment.complete()) continue;
    const GraphMapping mapping{.ii = problem.ii, .places = environment.places(), .routes = {}};
    for (const Violation& violation : check_mapping(problem, mapping)) ADD_FAILURE() << violation.text;
    EXPECT_EQ(makespan_cycles(mapping, problem.fabric.operation_latency_cycles), environment.makespan());
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
    EXPECT_EQ(environment.bound(), environment.makespan());
    if (options.reward == PlacementReward::kMakespan) {
      EXPECT_NEAR(-sum * problem.fabric.operation_latency_cycles, environment.makespan() - bounds.front(),
                  1e-6);
    }
  }
  return tally;
}

TEST(PlacementEnvironment, CompleteEpisodesPassTheChecker) {
  Random random(1);
  Tally all;
  for (int i = 0; i < 120; ++i) {
    const bool line = i % 2 == 0;
    const std::string fabric = line ? "streaming-engine" : i % 4 == 1 ? "mesh-4x4" : "hycube-4x4";
    Wish wish{.nodes = int(random.between(4, 30)), .ii = int(random.between(3, 8))};
    wish.loops = !line && wish.nodes > 6;
    wish.fixed = i % 5 == 0;
    wish.delay = i % 3 == 0 ? Delay::kBounded : Delay::kUnbounded;
    EnvironmentOptions options{.slots_per_tile = i % 7 == 0 ? wish.ii : 1};
    const Tally tally = play(random_problem(random, fabric, wish), options, 20, random);
    all.complete += tally.complete;
    all.dead += tally.dead;
  }
  EXPECT_GT(all.complete, 1000);
}

// Whether any sequence of actions completes the placement.
bool completes(PlacementEnvironment environment) {
  if (environment.done()) return environment.complete();
  for (int row = 0; row < environment.rows(); ++row) {
    if (((environment.valid(row / environment.instance().width) >> (row % environment.instance().width)) &
         1) == 0)
      continue;
    PlacementEnvironment next = environment;
    next.step(row);
    if (completes(next)) return true;
  }
  return false;
}

TEST(PlacementEnvironment, LookAheadClosesOnlyDeadEnds) {
  Random random(7);
  int closed = 0;
  for (int i = 0; i < 800; ++i) {
    const Wish wish{.nodes = int(random.between(5, 7)), .ii = int(random.between(1, 3)), .least_operands = 1};
    MappingProblem problem = random_problem(random, "line-4", wish);
    const PlacementInstance instance = compile_instance(compile_model(problem), PlacementOrder::kTopological);
    PlacementEnvironment seeing(instance, {}), blind(instance, {.look_ahead = false});
    while (!seeing.done()) {
      for (uint64_t hidden = blind.valid() & ~seeing.valid(); hidden != 0; hidden &= hidden - 1) {
        PlacementEnvironment next = blind;
        next.step(std::countr_zero(hidden));
        EXPECT_FALSE(completes(next)) << "graph " << i << " node " << blind.node();
        ++closed;
      }
      const int row = seeing.random_row(random);
      seeing.step(row);
      blind.step(row);
    }
  }
  EXPECT_GT(closed, 20);
}

TEST(PlacementEnvironment, AnInvalidActionEndsTheEpisode) {
  Random random(2);
  const PlacementInstance instance = compile_instance(
      compile_model(random_problem(random, "streaming-engine", {.nodes = 8})), PlacementOrder::kTopological);
  PlacementEnvironment environment(instance, {.dead_end_reward = -7});
  environment.step(3);
  for (int row = 0; !environment.done(); ++row) {
    if (((environment.valid() >> row) & 1) != 0) continue;
    EXPECT_EQ(environment.step(row), -7);
  }
  EXPECT_FALSE(environment.complete());
}

TEST(PlacementEnvironment, PublishedRewardsPayForLateStarts) {
  Random random(4);
  const MappingProblem problem = random_problem(random, "streaming-engine", {.nodes = 10});
  const PlacementInstance instance = compile_instance(compile_model(problem), PlacementOrder::kTopological);
  PlacementEnvironment paper(instance, {.reward = PlacementReward::kPaper}),
      ratio(instance, {.reward = PlacementReward::kRatio});
  bool seen = false;
  while (!paper.done()) {
    const int node = paper.node(), row = paper.random_row(random), start = paper.start(row);
    int operand = -1;
    const auto places = paper.places();
    for (const auto& limit : instance.operands[size_t(node)])
      operand = std::max(operand, places[size_t(limit.node)].time);
    const double one = paper.step(row), other = ratio.step(row);
    if (operand < 0 || paper.done()) continue;
    seen = true;
    EXPECT_DOUBLE_EQ(one, (start - operand) / 3.0);
    EXPECT_DOUBLE_EQ(other, 6.0 / (start - operand));
  }
  EXPECT_TRUE(seen);
}

TEST(PlacementInstance, RefusesWhatItsWordsDoNotHold) {
  Random random(3);
  MappingProblem problem = random_problem(random, "mesh-9x9", {.nodes = 6});
  try {
    compile_instance(compile_model(problem), PlacementOrder::kTopological);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("up to 64 tiles, the fabric has 81"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::cgra
