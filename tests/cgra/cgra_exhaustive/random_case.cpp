// Small problems with every rule, and what trying everything says of them.
#include "random_case.h"

#include <gtest/gtest.h>

#include "support/cgra/brute_force_testing.h"
#include "tilewright/cgra/exact/exact_mapper.h"

namespace tilewright::cgra {
namespace {

Fabric small_fabric(Random& random) {
  Fabric fabric;
  fabric.name = "small";
  const int shape = int(random.between(0, 5));
  fabric.columns = shape == 0 ? 1 : int(random.between(2, 4));
  if (shape == 1) fabric.rows = fabric.columns = 2;
  fabric.wrap = random.chance(0.2);
  fabric.spans = {1};
  if (shape > 1 && fabric.columns > 2 && random.chance(0.5)) fabric.spans = {1, 2};
  fabric.operation_latency_cycles = int(random.between(1, 3));
  fabric.cycles_per_distance = random.chance(0.6) ? 1 : 0;
  fabric.hops_per_cycle = int(random.between(1, 2));
  fabric.operands = 3;
  fabric.instructions = random.chance(0.15) ? int(random.between(1, 3)) : 64;
  fabric.tile_memories = 2;
  fabric.tile_memory_entries = random.chance(0.3) ? 12 : 64;
  fabric.memory_left_column_only = random.chance(0.3);
  return fabric;
}

DataflowGraph small_graph(Random& random) {
  DataflowGraph graph;
  graph.name = "small";
  const int nodes = int(random.between(1, 6));
  const int variables = random.chance(0.5) ? int(random.between(1, 2)) : 0;
  for (int i = 0; i < variables; ++i) graph.variables.push_back({.name = "v" + std::to_string(i)});
  for (int node = 0; node < nodes; ++node) {
    DataflowNode made{.name = "n" + std::to_string(node),
                      .op = random.chance(0.2) ? Opcode::kLoad : Opcode::kAdd};
    const int operands = made.op == Opcode::kLoad ? 1 : 2;
    for (int i = 0; i < operands; ++i) {
      if (node > 0 && random.chance(0.6)) {
        made.operands.push_back({.kind = OperandKind::kNode, .index = int(random.between(0, node - 1))});
      } else if (random.chance(0.12)) {
        made.operands.push_back({.kind = OperandKind::kNode,
                                 .index = int(random.between(0, nodes - 1)),
                                 .distance = int(random.between(1, 3))});
      } else if (variables > 0 && random.chance(0.3)) {
        made.operands.push_back(
            {.kind = OperandKind::kVariable, .index = int(random.between(0, variables - 1))});
      } else {
        made.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
      }
    }
    if (variables > 0 && random.chance(0.15)) made.writes = int(random.between(0, variables - 1));
    if (made.op == Opcode::kLoad) made.array = 0;
    graph.nodes.push_back(std::move(made));
  }
  graph.arrays.push_back({.name = "a"});
  return graph;
}

}  // namespace

MappingProblem small_problem(Random& random) {
  for (;;) {
    MappingProblem problem;
    problem.fabric = small_fabric(random);
    problem.graph = small_graph(random);
    problem.ii = int(random.between(1, 4));
    problem.rules.starters_apart = StarterRule(random.between(0, 2));
    problem.rules.siblings_apart = random.chance(0.5);
    problem.rules.variables_together = random.chance(0.8);
    problem.rules.delay = Delay(random.between(0, 2));
    problem.rules.delay_per_hop = int(random.between(1, 2));
    if (random.chance(0.3)) {
      problem.fixed_tiles.resize(problem.graph.nodes.size());
      problem.fixed_tiles[random.next() % problem.fixed_tiles.size()] =
          int(random.between(0, problem.fabric.tiles() - 1));
    }
    if (random.chance(0.2)) {
      problem.fixed_times.resize(problem.graph.nodes.size());
      problem.fixed_times[random.next() % problem.fixed_times.size()] = int(random.between(0, 8));
    }
    Diagnostics diagnostics;
    problem.verify(diagnostics);
    if (diagnostics.ok()) return problem;
  }
}

void compare(const MappingProblem& problem, int64_t most_checks, Tally& tally) {
  BruteForce force(problem);
  const MappingResult result = map_exact(problem, {});
  if (result.status == SearchStatus::kInfeasible) {
    ASSERT_TRUE(result.conflict.has_value());
    EXPECT_FALSE(result.conflict->rules.empty());
    EXPECT_FALSE(result.conflict->text.empty());
    int horizon = 0;
    for (const int longer : {8, 12, 16, 24, 32}) {
      EXPECT_FALSE(force.find(longer, most_checks)) << result.conflict->text;
      if (force.exhausted()) break;
      horizon = longer;
    }
    if (horizon == 0) {
      ++tally.undecided;
      return;
    }
    ++tally.infeasible;
    tally.infeasible_to_24 += horizon >= 24;
    return;
  }
  ASSERT_EQ(result.status, SearchStatus::kOptimal);
  ASSERT_TRUE(check_mapping(problem, *result.mapping).empty());
  ASSERT_EQ(makespan_cycles(*result.mapping, problem.fabric.operation_latency_cycles), result.makespan);
  EXPECT_EQ(result.lower_bound, result.makespan);
  EXPECT_FALSE(force.find(result.makespan - 1, most_checks)) << result.makespan;
  ++(force.exhausted() ? tally.undecided : tally.optimal);
}

}  // namespace tilewright::cgra
