// Matrix units are hardware that gives the product of a vector in every cycle.
#include "tilewright/pipeline/constant/matrix_unit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/netlist/evaluator_testing.h"
#include "support/pipeline/matrix_unit_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/netlist/netlist_testing.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/constant/solve.h"

namespace tilewright::pipeline {
namespace {

MatrixUnit make_unit(const MatrixCase& one, int levels) {
  MatrixSolveOptions options;
  options.attempts = 2;
  MatrixUnitOptions unit;
  unit.levels = levels;
  return make_matrix_unit(solve_matrix(one.matrix, one.ranges, options).graph, unit);
}

TEST(MatrixUnits, GiveAProductInEveryCycle) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(60); ++i) {
    const MatrixCase one = random_matrix_case(i % 15 == 0 ? 40 : 10, random);
    const int levels = int(random.between(0, 4));
    SCOPED_TRACE(fmt::format("seed {}, case {}: {} x {}, {} levels", test_seed(), i, one.matrix.rows,
                             one.matrix.columns, levels));
    const MatrixUnit unit = make_unit(one, levels);
    EXPECT_EQ(unit.latency == 0, levels == 0);
    const netlist::Netlist design = unit_design(unit);
    netlist::require_verified(design, netlist::BoxLibrary(), "matrix unit");
    netlist::Evaluator evaluator(design);
    EXPECT_EQ(
        unit_mismatches(evaluator, one, unit.latency, 2 * one.matrix.rows + 20, random.chance(0.5), random),
        0);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
