// The bounds on known graphs, and the cycle ratio against enumeration of all cycles.
#include "tilewright/cgra/kernel/minimum_ii.h"

#include <gtest/gtest.h>

#include <functional>

#include "tilewright/cgra/kernel/kernel_testing.h"

namespace tilewright::cgra {
namespace {

using testing::graph_of;
using testing::preset;
using testing::problem_of;

TEST(MinimumIi, ResourcesMemoryColumnAndSharedTiles) {
  MappingProblem problem = problem_of(graph_of(17, {}), preset("mesh-4x4"));
  EXPECT_EQ(minimum_ii(problem).value(), 2);
  EXPECT_TRUE(minimum_ii(problem).cycle.empty());
  EXPECT_EQ(minimum_ii(problem).reason, "17 operations on 16 tiles");
  for (int node = 0; node < 9; ++node) problem.graph.nodes[node].op = Opcode::kLoad;
  EXPECT_EQ(minimum_ii(problem).value(), 2);
  problem.fabric.memory_left_column_only = true;
  EXPECT_EQ(minimum_ii(problem).value(), 3);
  EXPECT_EQ(minimum_ii(problem).reason, "9 loads and stores on the 4 tiles of column 0");
  problem.graph.variables.push_back({});
  for (int node = 10; node < 14; ++node) problem.graph.nodes[node].writes = 0;
  EXPECT_EQ(minimum_ii(problem).shared_tile, 4);
  EXPECT_EQ(minimum_ii(problem).value(), 4);
}

TEST(MinimumIi, TheCycleOfTheLargestRatioIsNamed) {
  // 0 -> 1 -> 0 over 1 iteration; 1 -> 2 -> 3 -> 4 -> 1 over 3: ratios 2 and 4/3.
  MappingProblem problem = problem_of(
      graph_of(5, {{0, 1, 0}, {1, 0, 1}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}, {4, 1, 3}}), preset("mesh-4x4"));
  const MinimumIi bound = minimum_ii(problem);
  EXPECT_EQ(bound.recurrence, 2);
  EXPECT_EQ(bound.cycle_cycles, 2);
  EXPECT_EQ(bound.cycle_distance, 1);
  EXPECT_EQ(bound.cycle.size(), 2u);
  EXPECT_EQ(bound.reason.substr(0, 34), "a cycle of 2 clocks over 1 iterati");
  problem.fabric.operation_latency_cycles = 3;
  EXPECT_EQ(minimum_ii(problem).recurrence, 6);
}

// The largest ceil(latency * edges / distance) over all simple cycles, by depth first search.
int largest_ratio(const DataflowGraph& graph) {
  const std::vector<Edge> edges = graph.edges();
  const int nodes = int(graph.nodes.size());
  int most = 1;
  std::vector<int> seen(nodes, 0);
  std::function<void(int, int, int, int)> walk = [&](int start, int node, int length, int distance) {
    for (const Edge& edge : edges) {
      if (edge.from != node || edge.to < start) continue;
      const int d = distance + edge.distance;
      if (edge.to == start) {
        most = std::max(most, (length + d) / d);
      } else if (seen[edge.to] == 0) {
        seen[edge.to] = 1;
        walk(start, edge.to, length + 1, d);
        seen[edge.to] = 0;
      }
    }
  };
  for (int start = 0; start < nodes; ++start) walk(start, start, 0, 0);
  return most;
}

TEST(MinimumIi, TheRecurrenceEqualsTheEnumerationOfAllCycles) {
  Random random(5);
  int above_one = 0;
  for (int i = 0; i < 500; ++i) {
    const MappingProblem problem =
        problem_of(testing::random_kernel(random, int(random.between(1, 8))), preset("mesh-4x4"));
    const MinimumIi bound = minimum_ii(problem);
    EXPECT_EQ(bound.recurrence, largest_ratio(problem.graph)) << i;
    above_one += bound.recurrence > 1;
  }
  EXPECT_GT(above_one, 100);
}

// What the files record was counted by another program.
TEST(MinimumIi, EqualsWhatTheShippedKernelsRecord) {
  for (const std::string& name : testing::shipped_kernels()) {
    const KernelFile file = testing::shipped_kernel(name);
    const MinimumIi bound = minimum_ii(problem_of(file.graph, preset("mesh-4x4")));
    EXPECT_EQ(bound.recurrence, file.recurrence_ii) << name;
    EXPECT_EQ(bound.resource, file.resource_ii_16_tiles) << name;
  }
}

}  // namespace
}  // namespace tilewright::cgra
