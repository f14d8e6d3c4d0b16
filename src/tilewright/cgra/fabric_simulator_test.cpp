// Mapped programs of the paper executed, and every fault.
#include "tilewright/cgra/simulate/fabric_simulator.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/kernel/kernel_testing.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

namespace tilewright::cgra {
namespace {

const std::string kSource = TILEWRIGHT_SOURCE_DIR;

MappingProblem paper_problem(const std::string& name, int ii) {
  MappingProblem problem;
  problem.graph = read_graph_file(kSource + "/models/cgra/" + name + ".json").graph;
  problem.fabric = find_fabric("streaming-engine", kSource + "/hardware");
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

std::optional<GraphMapping> routed_mapping(const MappingProblem& problem) {
  MappingResult mapped = map_exact(problem, {});
  if (!mapped.mapping) return {};
  RoutingResult routed = route_places(problem, *mapped.mapping);
  EXPECT_EQ(routed.status, SearchStatus::kFeasible);
  mapped.mapping->routes = std::move(routed.routes);
  return mapped.mapping;
}

TEST(FabricSimulator, ThePapersGraphsWithAThousandInputsPerFlow) {
  for (const char* name : {"vector_add", "multiply_add", "distance", "ifft"}) {
    for (int ii = 1; ii <= 6; ++ii) {
      const MappingProblem problem = paper_problem(name, ii);
      const std::optional<GraphMapping> mapping = routed_mapping(problem);
      EXPECT_EQ(mapping.has_value(), name != std::string("ifft") || ii > 1);
      if (!mapping) continue;
      const Inputs inputs = random_inputs(problem.graph, 1000, uint64_t(ii));
      const ExecutionCheck check =
          execute_mapping(problem, *mapping, inputs, {.threads = 1000, .seed = uint64_t(ii)});
      EXPECT_EQ(check.wrong, 0) << name << " II " << ii << ": " << check.first;
      EXPECT_GE(check.values, 1000 * int64_t(problem.graph.nodes.size()));
    }
  }
}

TEST(FabricSimulator, AThreadTakesTheMakespanWhereNothingWaits) {
  MappingProblem problem;
  problem = testing::problem_of(testing::graph_of(4, {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 3, 0}}),
                                find_fabric("line-8", kSource + "/hardware"), 2);
  const std::optional<GraphMapping> mapping = [&] {
    problem.rules.routed = false;
    return routed_mapping(problem);
  }();
  ASSERT_TRUE(mapping);
  const int makespan = makespan_cycles(*mapping, problem.fabric.operation_latency_cycles);
  for (const int threads : {1, 10}) {
    const ExecutionCheck check = execute_mapping(problem, *mapping, {}, {.threads = threads});
    EXPECT_EQ(check.wrong, 0) << check.first;
    EXPECT_EQ(check.result.cycles, makespan + (threads - 1) * problem.ii);
    EXPECT_EQ(check.result.threads_per_cycle, 0.5);
    int64_t started = 0;
    for (const auto& tile : check.result.started) {
      for (const int64_t count : tile) started += count;
    }
    EXPECT_EQ(started, 4 * threads);
  }
}

// Tile 0 stores the negated thread to y[thread], tile 1 the thread to y[thread + 1]: what is later stays.
TEST(FabricSimulator, StoresReachMemoryInTheOrderOfTheirClocks) {
  const auto run = [](int clock_of_0, int clock_of_1) {
    const auto tile = [](int number, const std::string& operands, int clock) {
      return "{\"tile\": " + std::to_string(number) + ", \"instructions\": [{\"name\": \"s" +
             std::to_string(number) + "\", \"op\": \"store\", \"operands\": " + operands +
             ", \"array\": 3}], \"spoke\": [{\"slot\": " + std::to_string(clock % 2) +
             ", \"instruction\": 0, \"flow\": 0, \"clock\": " + std::to_string(clock) + "}]}";
    };
    const Configuration configuration = parse_configuration(
        R"({"kind": "fabric configuration", "name": "t", "fabric": {"columns": 2}, "ii": 2, "flows": [{"start": 0}], "tiles": [)" +
            tile(0, R"([7, "thread"])", clock_of_0) + "," + tile(1, R"([9, "thread", 1])", clock_of_1) + "]}",
        "test");
    return simulate_fabric(configuration, {}, {.threads = 3}).arrays.at(3);
  };
  using Array = std::map<int32_t, int32_t>;
  EXPECT_EQ(run(0, 1), (Array{{0, 7}, {1, 7}, {2, 7}, {3, 9}}));
  EXPECT_EQ(run(0, 3), (Array{{0, 7}, {1, 9}, {2, 9}, {3, 9}}));
  EXPECT_EQ(run(4, 1), (Array{{0, 7}, {1, 7}, {2, 7}, {3, 9}}));
}

// A result that is not the graph's is counted, array elements too.
TEST(FabricSimulator, ComparesArrays) {
  DataflowGraph graph;
  graph.arrays = {{"y"}};
  graph.nodes = {
      {.name = "s", .op = Opcode::kStore, .operands = {{.kind = OperandKind::kThread}}, .array = 0}};
  FabricSimulationResult result;
  result.values["s"] = {0, 1};
  result.stores["s"] = {{0, 0}, {1, 1}};
  result.arrays[0] = {{0, 0}, {1, 1}};
  EXPECT_EQ(compare_execution(graph, {}, 2, result).wrong, 0);
  result.arrays[0] = {{0, 0}, {1, 5}};
  EXPECT_EQ(compare_execution(graph, {}, 2, result).first, "array 'y' [1]: 5 instead of 1");
  result.arrays[0] = {{0, 0}};
  EXPECT_EQ(compare_execution(graph, {}, 2, result).first, "array 'y' [1]: nothing instead of 1");
  result.arrays[0] = {{0, 0}, {1, 1}, {-4, 2}};
  EXPECT_EQ(compare_execution(graph, {}, 2, result).first, "array 'y' [-4]: 2 instead of nothing");
  result.arrays.clear();
  EXPECT_EQ(compare_execution(graph, {}, 2, result).wrong, 2);
}

}  // namespace
}  // namespace tilewright::cgra
