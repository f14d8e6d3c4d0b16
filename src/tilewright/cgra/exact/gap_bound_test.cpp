// The gap bound against proven optima: never above, at least the longest chain, and above it where room is
// short.
#include "tilewright/cgra/exact/gap_bound.h"

#include <gtest/gtest.h>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/cgra/exact/exact_mapper.h"

namespace tilewright::cgra {
namespace {

MappingProblem flow_problem(int nodes, uint64_t seed, const std::string& fabric, int ii) {
  MappingProblem problem;
  problem.fabric = find_fabric(fabric, "none");
  problem.graph = generate_flow_graph(nodes, problem.fabric.tiles(), seed).graph;
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

TEST(GapBound, NeverAboveTheOptimum) {
  int better = 0, proven = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const MappingProblem problem =
        flow_problem(8 + int(seed % 9), seed, seed % 3 == 0 ? "ring-10" : "line-8", 2 + int(seed % 4));
    GraphMapperOptions options;
    options.limits.seconds = 5;
    const MappingResult exact = map_exact(problem, options);
    if (exact.status != SearchStatus::kOptimal) continue;
    ++proven;
    const GapBound bound = gap_bound(problem, map_exact, {.part_nodes = {5, 8}});
    EXPECT_LE(bound.makespan, exact.makespan) << seed;
    EXPECT_GE(bound.makespan, critical_path_cycles(problem.graph, problem.fabric.operation_latency_cycles))
        << seed;
    better += bound.makespan > critical_path_cycles(problem.graph, problem.fabric.operation_latency_cycles);
    for (size_t node = 0; node < problem.graph.nodes.size(); ++node) {
      EXPECT_GE(exact.mapping->places[node].time, bound.release[node]) << seed;
      EXPECT_LE(exact.mapping->places[node].time + bound.tail_cycles[node], exact.makespan) << seed;
    }
  }
  EXPECT_GT(proven, 15);
  EXPECT_GT(better, 8);
}

// 12 chains of one operation between a first and a last one at II 2: 14 operations on at least 7 tiles.
TEST(GapBound, RoomOnALine) {
  MappingProblem problem;
  problem.graph.name = "fan";
  problem.fabric = find_fabric("line-16", "none");
  problem.fabric.operands = 12;
  problem.ii = 2;
  problem.graph.nodes.push_back({.name = "first"});
  for (int i = 0; i < 12; ++i) {
    problem.graph.nodes.push_back({.name = "n" + std::to_string(i)});
    problem.graph.nodes.back().operands = {{.kind = OperandKind::kNode, .index = 0}};
  }
  problem.graph.nodes.push_back({.name = "last"});
  for (int i = 1; i <= 12; ++i)
    problem.graph.nodes.back().operands.push_back({.kind = OperandKind::kNode, .index = i});
  const GapBound bound = gap_bound(problem, map_exact, {.part_nodes = {}});
  EXPECT_EQ(bound.makespan, 9 + 6);
  EXPECT_EQ(bound.parts, 0);
}

}  // namespace
}  // namespace tilewright::cgra
