// What the mapper owes to every loop kernel.
#pragma once

#include <gtest/gtest.h>

#include "tilewright/cgra/kernel/kernel_testing.h"
#include "tilewright/cgra/kernel/map_kernel.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

namespace tilewright::cgra::testing {

inline size_t violations(MappingProblem problem, const GraphMapping& mapping) {
  problem.ii = mapping.ii;
  return check_mapping(problem, mapping).size();
}

// The least II that the bounds allow, and the shortest schedule: `longer` clocks above the critical path, or
// less.
inline void expect_bound_and_shortest_schedule(const MappingProblem& problem, int longer = 0) {
  const KernelResult result = map_kernel(problem, {});
  ASSERT_TRUE(result.mapping) << problem.graph.name;
  EXPECT_EQ(result.status, SearchStatus::kOptimal) << problem.graph.name;
  EXPECT_EQ(result.mapping->ii, result.bound.value()) << problem.graph.name;
  EXPECT_EQ(violations(problem, *result.mapping), 0u) << problem.graph.name;
  EXPECT_EQ(result.makespan, result.least_makespan) << problem.graph.name;
  EXPECT_GE(result.makespan, critical_path_cycles(problem.graph, 1)) << problem.graph.name;
  EXPECT_LE(result.makespan, critical_path_cycles(problem.graph, 1) + longer) << problem.graph.name;
}

// A hundred overlapped iterations compute what the graph says.
inline void expect_overlapped_execution(MappingProblem problem, const KernelOptions& options = {}) {
  const std::string what = problem.graph.name + " on " + problem.fabric.name;
  const KernelResult result = map_kernel(problem, options);
  ASSERT_TRUE(result.mapping) << what;
  problem.ii = result.mapping->ii;
  const ExecutionCheck check = execute_mapping(problem, *result.mapping, random_inputs(problem.graph, 100, 7),
                                               {.threads = 100, .seed = 7});
  EXPECT_GE(check.values, 100 * int64_t(problem.graph.nodes.size())) << what;
  EXPECT_EQ(check.wrong, 0) << what << ": " << check.first;
}

}  // namespace tilewright::cgra::testing
