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

std::optional<Mapping> routed_mapping(const MappingProblem& problem) {
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
      const std::optional<Mapping> mapping = routed_mapping(problem);
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
  const std::optional<Mapping> mapping = [&] {
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

}  // namespace
}  // namespace tilewright::cgra
