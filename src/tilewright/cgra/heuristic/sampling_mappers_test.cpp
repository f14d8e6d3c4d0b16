// Heuristic mappers on random graphs: what they return passes the checker, and placing is undone exactly.
#include "tilewright/cgra/heuristic/sampling_mappers.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/heuristic/list_schedule.h"

namespace tilewright::cgra {
namespace {

const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

// A random graph of `size` nodes on `fabric`, with shared variables and, where wanted, loops.
MappingProblem random_problem(Random& random, int size, const std::string& fabric, bool loops) {
  MappingProblem problem;
  problem.graph.name = "random";
  problem.fabric = find_fabric(fabric, kPresets);
  problem.ii = int(random.between(4, 8));
  problem.rules = usual_rules(problem.fabric);
  for (int i = 0; i < size; ++i) {
    DataflowNode node{.name = "n" + std::to_string(i)};
    std::vector<int> from;
    for (int64_t k = random.between(0, 2); i > 0 && k > 0; --k)
      from.push_back(int(random.between(std::max(0, i - 6), i - 1)));
    for (const int index : from) node.operands.push_back({.kind = OperandKind::kNode, .index = index});
    while (node.operands.size() < 2) node.operands.push_back({.value = 1});
    problem.graph.nodes.push_back(node);
  }
  if (loops && size > 6) {
    problem.graph.nodes[2].operands[1] = {.kind = OperandKind::kNode, .index = size - 2, .distance = 6};
  }
  if (problem.fabric.tile_memories > 0) {
    problem.graph.variables.push_back({.name = "v"});
    for (const int i : {1, size - 1}) problem.graph.nodes[size_t(i)].writes = 0;
  }
  return problem;
}

std::string violations(const MappingProblem& problem, const MappingResult& result) {
  std::string text;
  for (const Violation& violation : check_mapping(problem, *result.mapping)) text += violation.text + "\n";
  return text;
}

TEST(HeuristicMappers, ResultsPassTheChecker) {
  Random random(3);
  int mapped = 0;
  for (int i = 0; i < 30; ++i) {
    const bool line = i % 2 == 0;
    const MappingProblem problem =
        random_problem(random, int(random.between(4, 24)), line ? "line-16" : "mesh-4x4", !line);
    GraphMapperOptions options;
    options.seed = uint64_t(i);
    options.limits.evaluations = 400;
    int best = 0;
    for (const auto& map : {map_list, map_random, map_annealing, map_evolution}) {
      const MappingResult result = map(problem, options);
      if (!result.mapping) continue;
      ++mapped;
      EXPECT_EQ(violations(problem, result), "");
      EXPECT_EQ(result.makespan, makespan_cycles(*result.mapping, problem.fabric.operation_latency_cycles));
      EXPECT_GE(result.makespan, result.lower_bound);
      best = best == 0 ? result.makespan : std::min(best, result.makespan);
    }
  }
  EXPECT_GT(mapped, 60);
}

TEST(HeuristicMappers, RoutedResultsPassTheChecker) {
  Random random(4);
  int mapped = 0;
  for (int i = 0; i < 10; ++i) {
    MappingProblem problem = random_problem(random, 10, i % 2 == 0 ? "line-16" : "hycube-4x4", i % 2 == 1);
    problem.rules.routed = true;
    GraphMapperOptions options;
    options.limits.evaluations = 800;
    const MappingResult result = map_annealing(problem, options);
    if (!result.mapping) continue;
    ++mapped;
    EXPECT_EQ(violations(problem, result), "");
  }
  EXPECT_GT(mapped, 5);
}

TEST(HeuristicMappers, SameSeedSameResult) {
  Random random(5);
  const MappingProblem problem = random_problem(random, 20, "line-16", false);
  GraphMapperOptions options{.seed = 9};
  options.limits.evaluations = 2000;
  const MappingResult one = map_annealing(problem, options);
  options.threads = 2;
  EXPECT_EQ(one.mapping, map_annealing(problem, options).mapping);
  ASSERT_FALSE(one.curve.empty());
  EXPECT_EQ(one.curve.back().value, one.makespan);
}

TEST(HeuristicMappers, GenesOfTheListScheduleDecodeToIt) {
  Random random(8);
  for (int i = 0; i < 50; ++i) {
    const PlacementModel model = compile_model(random_problem(random, 18, "line-16", false));
    const PlacementDecoder decoder(model);
    const auto schedule = list_schedule(decoder);
    if (!schedule) continue;
    EXPECT_EQ(decoder.decode(schedule->genes), schedule->places);
  }
}

TEST(PlacementState, UndoRestoresEverything) {
  Random random(11);
  for (int i = 0; i < 40; ++i) {
    const PlacementModel model =
        compile_model(random_problem(random, 16, i % 2 ? "line-16" : "mesh-4x4", true));
    PlacementState state(model);
    std::vector<std::vector<int>> before;
    const auto look = [&] {
      std::vector<int> seen{state.makespan()};
      for (int node = 0; node < model.nodes; ++node) {
        for (int tile = 0; tile < model.tiles; ++tile)
          seen.push_back(state.placed(node) ? -2 : state.earliest(node, tile));
      }
      for (int tile = 0; tile < model.tiles; ++tile) seen.push_back(state.free_slots(tile));
      return seen;
    };
    for (const int node : model.topological) {
      before.push_back(look());
      const int tile = int(random.between(0, model.tiles - 1));
      const int time = state.earliest(node, tile);
      if (time == PlacementState::kNever) break;
      state.place(node, tile, time);
    }
    while (state.placed_count() > 0) {
      state.undo();
      EXPECT_EQ(look(), before[size_t(state.placed_count())]);
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
