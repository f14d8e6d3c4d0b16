// The formula against enumeration is tested through map_kernel; here: windows, and what a model gives back.
#include "tilewright/cgra/kernel/window_formula.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/kernel/kernel_testing.h"
#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {
namespace {

using testing::graph_of;
using testing::preset;
using testing::problem_of;

TEST(StartWindows, FollowChainsCyclesAndFixedTimes) {
  MappingProblem problem =
      problem_of(graph_of(4, {{0, 1, 0}, {1, 2, 0}, {2, 0, 1}, {2, 3, 0}}), preset("mesh-2x2"), 3);
  const PlacementModel model = compile_model(problem);
  EXPECT_EQ(least_makespan_cycles(model), 4);
  EXPECT_FALSE(start_windows(model, 3));
  const auto windows = start_windows(model, 6);
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->first, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(windows->last, (std::vector<int>{2, 3, 4, 5}));
  const auto narrow = narrow_windows(model, *windows, 2);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->first, (std::vector<int>{1, 2, 3, 4}));
  problem.fixed_times = {std::nullopt, 5, std::nullopt, std::nullopt};
  EXPECT_EQ(least_makespan_cycles(compile_model(problem)), 8);
  problem.fixed_times[1] = 1 << 24;  // as late as there is
  EXPECT_EQ(least_makespan_cycles(compile_model(problem)), (1 << 24) + 3);
  problem.ii = 2;  // the cycle takes 3 clocks
  EXPECT_FALSE(least_makespan_cycles(compile_model(problem)));
}

TEST(WindowFormula, ModelsAreValidMappingsWhateverTheFabric) {
  Random random(2);
  int found = 0, none = 0;
  for (int i = 0; i < 150; ++i) {
    Fabric fabric = preset(i % 3 == 0 ? "mesh-2x2" : i % 3 == 1 ? "hycube-2x3" : "torus-3x3");
    fabric.delay_registers = int(random.between(0, 2));
    fabric.memory_left_column_only = random.chance(0.3);
    fabric.pass_through = int(random.between(0, 2));
    fabric.instructions = random.chance(0.2) ? 2 : 64;
    MappingProblem problem = problem_of(testing::random_kernel(random, int(random.between(2, 10))), fabric,
                                        int(random.between(1, 4)));
    for (DataflowNode& node : problem.graph.nodes) {
      if (random.chance(0.2)) node.op = Opcode::kLoad;
    }
    if (random.chance(0.3)) problem.rules.siblings_apart = true;
    if (random.chance(0.2)) problem.rules.delay = Delay::kBounded;
    const PlacementModel model = compile_model(problem);
    const auto least = least_makespan_cycles(model);
    if (!least) continue;
    const auto windows = start_windows(model, *least + int(random.between(0, 3)));
    ASSERT_TRUE(windows);
    const WindowFormula formula(fabric, model, *windows);
    SatSolver solver;
    solver.add(formula.cnf());
    if (solver.solve() == Satisfiable::kNo) {
      ++none;
      continue;
    }
    ++found;
    for (const Violation& violation : check_mapping(problem, formula.read(solver))) {
      ADD_FAILURE() << i << ": " << violation.text;
    }
  }
  EXPECT_GT(found, 40);
  EXPECT_GT(none, 10);
}

}  // namespace
}  // namespace tilewright::cgra
