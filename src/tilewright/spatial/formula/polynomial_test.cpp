#include "tilewright/spatial/formula/polynomial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tilewright/spatial/formula/random_expression_testing.h"

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

TEST(Polynomial, FactoredFormKeepsSumsOfMixedSign) {
  ExpressionGraph graph;
  const Scope scope = {{"x", graph.symbol(0)}, {"y", graph.symbol(1)}};
  Diagnostics diagnostics;
  const int node = parse_expression("x*(4*y - 3) + x*(y + 2)", {}, scope, graph, diagnostics);
  Expander expander(graph);
  EXPECT_EQ(expander.expand(node, Form::kDistributed).terms.size(), 2u);  // 5 x y - x
  EXPECT_EQ(expander.expand(node, Form::kFactored).terms.size(), 3u);     // x (4 y - 3) + x y + 2 x
  ASSERT_EQ(expander.atom_sums().size(), 1u);
  EXPECT_EQ(expander.atom_sums()[0].sum.terms.size(), 2u);
}

// One random expression over a random box: values at points in both forms, and their bounds.
int compare_forms(Random& random, int round) {
  ExpressionGraph graph;
  const int root = random_expression(graph, random, 5);
  Expander expander(graph);
  const Polynomial forms[] = {expander.expand(root, Form::kDistributed),
                              expander.expand(root, Form::kFactored)};
  std::vector<Interval> box, node_bounds(graph.nodes().size()), atom_bounds;
  for (int v = 0; v < kTestVariables; ++v) {
    const double low = double(random.between(1, 6));
    box.push_back({low, low + double(random.between(0, 4))});
  }
  evaluate(graph, box, node_bounds);
  for (const int atom : expander.atoms()) atom_bounds.push_back(node_bounds[size_t(atom)]);
  for (const AtomSum& entry : expander.atom_sums()) {
    const Interval sum = entry.sum.bounds(atom_bounds);
    Interval& atom = atom_bounds[size_t(entry.atom)];
    atom = {std::max(atom.low, sum.low), std::min(atom.high, sum.high)};
  }
  int compared = 0;
  for (int sample = 0; sample < 5; ++sample) {
    std::vector<double> point, values(graph.nodes().size()), atoms;
    for (const Interval& x : box) point.push_back(double(random.between(int64_t(x.low), int64_t(x.high))));
    evaluate(graph, point, values);
    for (const int atom : expander.atoms()) atoms.push_back(values[size_t(atom)]);
    const double expected = values[size_t(root)];
    for (const Polynomial& form : forms) {
      const double value = form.value(atoms);
      if (!std::isfinite(expected) || !std::isfinite(value)) continue;
      const Interval range = form.bounds(atom_bounds);
      const double slack = 1e-7 * std::max(1.0, std::abs(expected));
      EXPECT_NEAR(value, expected, slack) << "round " << round;
      EXPECT_GE(value, range.low - slack) << "round " << round;
      EXPECT_LE(value, range.high + slack) << "round " << round;
      ++compared;
    }
  }
  return compared;
}

TEST(Polynomial, ExpansionHasTheSameValuesAndValidBounds) {
  constexpr uint64_t kSeed = 21;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) compared += compare_forms(random, round);
  EXPECT_GT(compared, 10000);
}

}  // namespace
}  // namespace tilewright::study
