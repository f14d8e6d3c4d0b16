#include "tilewright/spatial/study/polynomial.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/spatial/study/random_expression_test_support.h"

namespace tilewright::study {
namespace {

TEST(Polynomial, MergesLikeTerms) {
  ExpressionGraph graph;
  const Scope scope = {{"x", graph.symbol(0)}, {"y", graph.symbol(1)}};
  Diagnostics diagnostics;
  const auto terms = [&](const char* text) {
    Expander expander(graph);
    return expander.expand(parse_expression(text, {}, scope, graph, diagnostics)).terms.size();
  };
  EXPECT_EQ(terms("(x + y)*(x - y) + y*y - x*x"), 0u);
  EXPECT_EQ(terms("3*ceil(x/y) - 2*ceil(x/y)"), 1u);
  EXPECT_EQ(terms("(2*x + 3)/x"), 2u);  // 2 + 3 x^-1
  EXPECT_EQ(terms("x/(x + y)"), 1u);    // not expanded
  EXPECT_EQ(terms("x*y - y*x + 5"), 1u);
  EXPECT_TRUE(diagnostics.ok());
}

TEST(Polynomial, ExpansionHasTheSameValuesAndValidBounds) {
  constexpr uint64_t kSeed = 21;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    ExpressionGraph graph;
    const int root = random_expression(graph, random, 5);
    Expander expander(graph);
    const Polynomial polynomial = expander.expand(root);
    std::vector<Interval> box, node_bounds(graph.nodes().size()), atom_bounds;
    for (int v = 0; v < kTestVariables; ++v) {
      const double low = double(random.between(1, 6));
      box.push_back({low, low + double(random.between(0, 4))});
    }
    evaluate(graph, box, node_bounds);
    for (const int atom : expander.atoms()) atom_bounds.push_back(node_bounds[size_t(atom)]);
    const Interval range = polynomial.bounds(atom_bounds);
    for (int sample = 0; sample < 5; ++sample) {
      std::vector<double> point, values(graph.nodes().size()), atoms;
      for (const Interval& x : box) point.push_back(double(random.between(int64_t(x.low), int64_t(x.high))));
      evaluate(graph, point, values);
      for (const int atom : expander.atoms()) atoms.push_back(values[size_t(atom)]);
      const double expected = values[size_t(root)], value = polynomial.value(atoms);
      if (!std::isfinite(expected) || !std::isfinite(value)) continue;
      const double slack = 1e-7 * std::max(1.0, std::abs(expected));
      EXPECT_NEAR(value, expected, slack) << "round " << round;
      EXPECT_GE(value, range.low - slack) << "round " << round;
      EXPECT_LE(value, range.high + slack) << "round " << round;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace tilewright::study
