#include "tilewright/spatial/formula/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/spatial/formula/random_expression_testing.h"

namespace tilewright::study {
namespace {

// The value of `text` with x = 7, y = 2.
double value_of(const std::string& text) {
  ExpressionGraph graph;
  const Scope scope = {{"x", graph.symbol(0)}, {"y", graph.symbol(1)}};
  Diagnostics diagnostics;
  const int node = parse_expression(text, {"test.yaml:1", "key"}, scope, graph, diagnostics);
  diagnostics.raise_if_any();
  const double symbols[] = {7, 2};
  std::vector<double> values(graph.nodes().size());
  evaluate(graph, symbols, values);
  return values[size_t(node)];
}

std::string complaint_about(const std::string& text, bool comparison = false) {
  ExpressionGraph graph;
  const Scope scope = {{"x", graph.symbol(0)}, {"y", graph.symbol(1)}};
  Diagnostics diagnostics;
  if (comparison) {
    parse_comparison(text, {"test.yaml:3", "key"}, scope, graph, diagnostics);
  } else {
    parse_expression(text, {"test.yaml:3", "key"}, scope, graph, diagnostics);
  }
  return diagnostics.ok() ? "" : to_string(diagnostics.errors()[0]);
}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(value_of("1 + 2*3"), 7);
  EXPECT_EQ(value_of("(1 + 2)*3"), 9);
  EXPECT_EQ(value_of("8/4/2"), 1);
  EXPECT_EQ(value_of("8 - 4 - 2"), 2);
  EXPECT_EQ(value_of("-x + y"), -5);
  EXPECT_EQ(value_of("x*-y"), -14);
  EXPECT_EQ(value_of("ceil(x/y) + floor(x/y)*10"), 34);
  EXPECT_EQ(value_of("min(x, y) + 10*max(x, y) + 100*mod(x, y)"), 172);
  EXPECT_EQ(value_of(" 2.5*y "), 5);
}

TEST(Expression, SharesEqualPartsAndFoldsConstants) {
  ExpressionGraph graph;
  const int x = graph.symbol(0), y = graph.symbol(1);
  EXPECT_EQ(graph.apply(FormulaOperation::kMultiply, x, y), graph.apply(FormulaOperation::kMultiply, y, x));
  EXPECT_EQ(graph.constant_value(graph.apply(FormulaOperation::kAdd, graph.constant(2), graph.constant(3))),
            5.0);
  EXPECT_EQ(graph.apply(FormulaOperation::kMultiply, x, graph.constant(1)), x);
  EXPECT_EQ(graph.apply(FormulaOperation::kSubtract, x, graph.constant(0)), x);
  EXPECT_FALSE(
      graph.constant_value(graph.apply(FormulaOperation::kDivide, graph.constant(1), graph.constant(0))));
}

TEST(Expression, EveryMistakeHasItsMessage) {
  EXPECT_EQ(complaint_about("x + z"),
            "test.yaml:3 (key): column 5 of 'x + z': unknown name 'z'; known names: x, y");
  EXPECT_EQ(complaint_about("x +"), "test.yaml:3 (key): column 4 of 'x +': the expression ends too early");
  EXPECT_EQ(complaint_about("x y"), "test.yaml:3 (key): column 3 of 'x y': 'y' is not expected here");
  EXPECT_EQ(complaint_about("(x"), "test.yaml:3 (key): column 3 of '(x': ')' is expected");
  EXPECT_EQ(complaint_about("x / 0"), "test.yaml:3 (key): column 6 of 'x / 0': division by zero");
  EXPECT_EQ(complaint_about("min(x)"), "test.yaml:3 (key): column 6 of 'min(x)': ',' is expected");
  EXPECT_EQ(complaint_about("x $ y"), "test.yaml:3 (key): column 3 of 'x $ y': '$' is not expected here");
  EXPECT_EQ(complaint_about("*x"),
            "test.yaml:3 (key): column 1 of '*x': a number, a name or '(' is expected");
  EXPECT_EQ(complaint_about("99999999999999999"),
            "test.yaml:3 (key): column 1 of '99999999999999999': no number in 0..1e15");
  EXPECT_EQ(complaint_about("x", true),
            "test.yaml:3 (key): column 2 of 'x': a comparison is expected; one of <= >= < > ==");
  EXPECT_EQ(complaint_about("x = y", true),
            "test.yaml:3 (key): column 3 of 'x = y': '=' is not a comparison; write '=='");
  EXPECT_NE(complaint_about(std::string(500, '(')).find("nested deeper than 100"), std::string::npos);
  EXPECT_NE(complaint_about(std::string(500, '-')).find("nested deeper than 100"), std::string::npos);
  EXPECT_NE(complaint_about(std::string(2001, 'x')).find("longer than 2000 characters"), std::string::npos);
  EXPECT_NE(complaint_about(std::string("x\0y", 3)).find("is not expected here"), std::string::npos);
}

TEST(Expression, IntervalsHoldEveryValue) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    ExpressionGraph graph;
    const int root = random_expression(graph, random, 4);
    std::vector<Interval> box;
    for (int v = 0; v < kTestVariables; ++v) {
      const double low = double(random.between(1, 6));
      box.push_back({low, low + double(random.between(0, 4))});
    }
    std::vector<Interval> bounds(graph.nodes().size());
    evaluate(graph, box, bounds);
    const Interval range = bounds[size_t(root)];
    for (int sample = 0; sample < 10; ++sample) {
      std::vector<double> point, values(graph.nodes().size());
      for (const Interval& x : box) point.push_back(double(random.between(int64_t(x.low), int64_t(x.high))));
      evaluate(graph, point, values);
      const double value = values[size_t(root)];
      if (!std::isfinite(value)) continue;
      const double slack = 1e-9 * std::max(1.0, std::abs(value));
      EXPECT_GE(value, range.low - slack) << "round " << round;
      EXPECT_LE(value, range.high + slack) << "round " << round;
    }
  }
}

TEST(Expression, BindingKeepsValues) {
  constexpr uint64_t kSeed = 12;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int round = 0; round < 1000; ++round) {
    ExpressionGraph graph;
    int root = random_expression(graph, random, 5);
    const double point[] = {double(random.between(1, 9)), double(random.between(1, 9)),
                            double(random.between(1, 9))};
    std::vector<double> values(graph.nodes().size());
    evaluate(graph, point, values);
    const double expected = values[size_t(root)];
    // Symbol 1 becomes a number, 2 becomes the first symbol.
    const std::optional<double> known[] = {point[0], point[1], std::nullopt};
    const int renumber[] = {-1, -1, 0};
    int* const roots[] = {&root};
    const ExpressionGraph bound = substitute(graph, known, renumber, roots);
    values.resize(bound.nodes().size());
    evaluate(bound, std::span(point + 2, 1), values);
    const double value = values[size_t(root)];
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << "round " << round;
    } else {
      EXPECT_EQ(value, expected) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tilewright::study
