// The relaxation must hold wherever a mapping exists, and must refute much of what has none.
#include "tilewright/cgra/kernel/any_length_formula.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/kernel/kernel_testing.h"
#include "tilewright/cgra/kernel/window_formula.h"

namespace tilewright::cgra {
namespace {

using testing::graph_of;
using testing::preset;
using testing::problem_of;

bool satisfiable(const Cnf& cnf) {
  SatSolver solver;
  solver.add(cnf);
  return solver.solve() == Satisfiable::kYes;
}

// Whether a mapping of any length exists, by the makespan that suffices.
bool mappable(const Fabric& fabric, const PlacementModel& model) {
  const auto windows = start_windows(model, sufficient_makespan_cycles(model, fabric.delay_registers));
  return windows && satisfiable(WindowFormula(fabric, model, *windows).cnf());
}

TEST(AnyLengthFormula, NeverRefutesAMappableKernelAndOftenAnother) {
  Random random(21);
  int mapped = 0, refuted = 0, missed = 0;
  for (int i = 0; i < 250; ++i) {
    Fabric fabric = preset(i % 3 == 0 ? "mesh-2x2" : i % 3 == 1 ? "hycube-1x3" : "torus-2x2");
    fabric.delay_registers = int(random.between(0, 1));
    MappingProblem problem = problem_of(testing::random_kernel(random, int(random.between(2, 7))), fabric,
                                        int(random.between(1, 3)));
    if (random.chance(0.3)) {
      problem.fixed_times.resize(problem.graph.nodes.size());
      problem.fixed_times[0] = int(random.between(0, 5));
    }
    if (random.chance(0.3)) problem.rules.siblings_apart = true;
    const PlacementModel model = compile_model(problem);
    if (!least_makespan_cycles(model)) continue;
    const int ages = int(random.between(1, 2 * problem.ii));
    const bool possible = satisfiable(any_length_formula(fabric, model, ages));
    if (mappable(fabric, model)) {
      ++mapped;
      EXPECT_TRUE(possible) << i;
    } else {
      ++(possible ? missed : refuted);
    }
  }
  EXPECT_GT(mapped, 40);
  EXPECT_GT(refuted, 40);
  EXPECT_LT(missed, refuted);
}

TEST(AnyLengthFormula, RefutesOnAnArrayTooLargeForTheExactArgument) {
  // A chain of 15 additions that all read one value, one operation per tile: without registers the value
  // would have to be everywhere at once.
  std::vector<std::vector<int>> edges;
  for (int node = 1; node < 16; ++node) edges.push_back({0, node, 0});
  for (int node = 1; node < 15; ++node) edges.push_back({node, node + 1, 0});
  MappingProblem problem = problem_of(graph_of(16, edges), preset("mesh-4x4"), 1);
  problem.fabric.delay_registers = 0;
  EXPECT_FALSE(satisfiable(any_length_formula(problem.fabric, compile_model(problem), 2)));
  problem.fabric.delay_registers = 4;
  problem.ii = 2;
  EXPECT_TRUE(satisfiable(any_length_formula(problem.fabric, compile_model(problem), 4)));
}

}  // namespace
}  // namespace tilewright::cgra
