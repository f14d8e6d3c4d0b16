// Random matrices as adder graphs: the graph is the product, within the ranges and widths that it states, no
// deeper and no smaller than may be; the time limit and bad input.
#include "tilewright/pipeline/constant/solve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/constant_matrix_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/constant/row_tree.h"
#include "tilewright/pipeline/constant/signed_digits.h"

namespace tilewright::pipeline {
namespace {

void expect_product(const MatrixCase& one, const AdderGraph& graph, Random& random) {
  for (int row = 0; row < one.matrix.rows; ++row) {
    ASSERT_EQ(graph.outputs[size_t(row)].range, row_range(one.matrix, row, one.ranges));
  }
  for (int64_t i = 0; i < 2 * one.matrix.rows + 20; ++i) {
    const std::vector<int64_t> vector = probing_vector(one, i, random);
    ASSERT_EQ(graph.evaluate(vector), multiply(one.matrix, vector)) << "vector " << i;
  }
}

TEST(ConstantMatrices, GraphsAreTheProduct) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(150); ++i) {
    const MatrixCase one = random_matrix_case(i % 10 == 0 ? 40 : 12, random);
    SCOPED_TRACE(
        fmt::format("seed {}, case {}: {} x {}", test_seed(), i, one.matrix.rows, one.matrix.columns));
    MatrixSolveOptions options;
    options.attempts = int(random.between(1, 9));
    options.depth = random.chance(0.5) ? 0 : int(random.between(1, 14));
    const SolvedMatrix solved = solve_matrix(one.matrix, one.ranges, options);
    expect_product(one, solved.graph, random);
    if (HasFatalFailure()) return;
    EXPECT_GE(int64_t(solved.graph.sums.size()), solved.bound.sums);
    EXPECT_GE(solved.graph.luts(), solved.bound.luts);
  }
}

TEST(ConstantMatrices, DepthIsHeld) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(60); ++i) {
    MatrixCase one = random_matrix_case(20, random);
    one.matrix.factors.clear();  // they come behind the rows
    int least = 0;               // of rows by themselves: a balanced tree over their digits
    for (int row = 0; row < one.matrix.rows; ++row) {
      int digits = 0;
      for (int column = 0; column < one.matrix.columns; ++column) {
        const bool constant = one.ranges[size_t(column)].low == one.ranges[size_t(column)].high;
        digits += constant ? 0 : digit_count(one.matrix.at(row, column));
      }
      while ((1 << least) < digits) ++least;
    }
    for (const int spare : {0, 1, 4}) {
      MatrixSolveOptions options;
      options.depth = std::max(1, least + spare);
      const AdderGraph graph = solve_matrix(one.matrix, one.ranges, options).graph;
      EXPECT_LE(graph.depth(), options.depth + 1)
          << fmt::format("seed {}, case {}, least {}", test_seed(), i, least);
    }
  }
}

TEST(ConstantMatrices, RowsThatAreOthersAreFree) {
  Random random(test_seed());
  MatrixCase one{uniform_matrix(6, 9, 6, random), std::vector<NumberRange>(9, full_range(8, true))};
  MatrixSolveOptions once;
  once.attempts = 1;
  const int64_t alone = solve_matrix(one.matrix, one.ranges, once).graph.adders();
  ConstantMatrix more{18, 9, one.matrix.weights};
  for (const int32_t weight : one.matrix.weights) more.weights.push_back(-weight);
  for (const int32_t weight : one.matrix.weights) more.weights.push_back(weight * 4);
  EXPECT_EQ(solve_matrix(more, one.ranges, once).graph.adders(), alone);
  const AdderGraph wires = solve_matrix({2, 2, {4, 0, 0, 1}}, {{0, 15}, {0, 15}}).graph;
  EXPECT_EQ(wires.luts(), 0);
  EXPECT_EQ(wires.depth(), 0);
}

TEST(ConstantMatrices, SharingSavesWhatItShould) {
  // 16 x 16 weights of 8 bits have 2.8 digits each: 700 sums without sharing. Half as many are left.
  Random random(test_seed());
  const MatrixCase one{uniform_matrix(16, 16, 8, random), std::vector<NumberRange>(16, full_range(8, true))};
  int64_t digits = 0;
  for (const int32_t weight : one.matrix.weights) digits += digit_count(weight);
  EXPECT_LT(solve_matrix(one.matrix, one.ranges).graph.adders() * 10, digits * 6);
}

TEST(ConstantMatrices, TimeLimitLeavesAGraph) {
  Random random(test_seed());
  const MatrixCase one{uniform_matrix(40, 40, 8, random), std::vector<NumberRange>(40, full_range(8, true))};
  MatrixSolveOptions options;
  options.cpu_seconds = 0;
  const SolvedMatrix solved = solve_matrix(one.matrix, one.ranges, options);
  EXPECT_EQ(solved.attempts, 1);
  expect_product(one, solved.graph, random);
}

TEST(ConstantMatrices, SameGraphEveryTime) {
  Random random(test_seed());
  const MatrixCase one = random_matrix_case(20, random);
  const AdderGraph first = solve_matrix(one.matrix, one.ranges).graph;
  const AdderGraph second = solve_matrix(one.matrix, one.ranges).graph;
  ASSERT_EQ(first.sums.size(), second.sums.size());
  for (size_t i = 0; i < first.sums.size(); ++i) {
    EXPECT_EQ(first.sums[i].a, second.sums[i].a);
    EXPECT_EQ(first.sums[i].b, second.sums[i].b);
  }
}

TEST(ConstantMatrices, TreesOfRowsKeepTheirLevels) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(30); ++i) {
    const MatrixCase one = random_matrix_case(24, random);
    for (const int levels : {0, 1, 3}) {
      const RowTree tree = make_row_tree(one.matrix, one.ranges, levels);
      ASSERT_EQ(tree.order.size(), size_t(one.matrix.rows));
      std::vector<int> level(size_t(one.matrix.rows), -1);
      for (const int row : tree.order) {
        const RowOrigin& origin = tree.origins[size_t(row)];
        level[size_t(row)] = origin.parent < 0 ? 0 : level[size_t(origin.parent)] + 1;
        ASSERT_LE(level[size_t(row)], levels);
        if (origin.parent < 0) continue;
        ASSERT_GE(level[size_t(origin.parent)], 0) << "a row before its parent";
        EXPECT_LT(origin.height, tree.origins[size_t(origin.parent)].height);
        for (int column = 0; column < one.matrix.columns; ++column) {
          const int32_t parent = one.matrix.at(origin.parent, column) * (origin.negative ? -1 : 1);
          EXPECT_EQ(tree.differences.at(row, column) + parent, one.matrix.at(row, column));
        }
      }
    }
  }
}

TEST(SignedDigits, AreTheNumberAndAsFewAsStated) {
  for (int64_t value = -5000; value <= 5000; ++value) {
    int64_t sum = 0;
    int count = 0;
    for_each_digit(value, [&](const Digit& digit) { sum += digit.value(), ++count; });
    EXPECT_EQ(sum, value);
    EXPECT_EQ(count, digit_count(value));
    DigitChoices all(true), form(false);
    const DigitSet choices = all.of(value), own = form.of(value);
    EXPECT_EQ(own.positive & ~choices.positive, 0u) << value;
    EXPECT_EQ(own.negative & ~choices.negative, 0u) << value;
    for_each_digit(choices, [&](const Digit& digit) {
      EXPECT_EQ(digit_count(value - digit.value()), count - 1) << value;
    });
  }
}

TEST(ConstantMatrices, BadInputIsNamed) {
  const auto message = [](const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges) {
    try {
      solve_matrix(matrix, ranges);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({2, 2, {1, 2, 3}}, {{0, 1}, {0, 1}}),
            "constant matrix: 3 weights for 2 x 2; give one weight for each row and column, and at least one "
            "of both");
  EXPECT_EQ(message({1, 2, {1, 2}}, {{0, 1}}),
            "constant matrix: 1 ranges for 2 columns; give one range per input");
  EXPECT_EQ(message({1, 1, {1}}, {{3, 2}}),
            "constant matrix: input 0 in [3, 2]; give the least value first, both of less than 48 bits");
  EXPECT_EQ(message({1, 1, {40000}}, {{0, 1}}),
            "constant matrix: weight 40000 of row 0; use weights of at most 16 bits");
  EXPECT_EQ(message({1, 1, {30000}}, {{0, int64_t{1} << 46}}),
            "constant matrix: sums of row 0 have more than 57 bits; use narrower inputs or weights");
}

}  // namespace
}  // namespace tilewright::pipeline
