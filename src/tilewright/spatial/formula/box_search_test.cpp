#include "tilewright/spatial/formula/box_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/spatial/formula/random_expression_testing.h"

namespace tilewright::study {
namespace {

// minimise `objective` under `constraints`, over x, y, z in 1..upper.
struct Problem {
  ExpressionGraph graph;
  int objective = 0;
  std::vector<Comparison> constraints;
  std::vector<double> upper;

  BoxProblem boxes() {
    Expander expander(graph);
    std::vector<int> symbols;
    for (size_t v = 0; v < upper.size(); ++v) symbols.push_back(graph.symbol(int(v)));
    for (const int symbol : symbols) expander.atom(symbol);
    BoxProblem problem;
    problem.upper = upper;
    problem.objective = {expander.expand(objective, Form::kDistributed),
                         expander.expand(objective, Form::kFactored)};
    for (const Comparison& c : constraints) {
      for (const Form form : {Form::kDistributed, Form::kFactored}) {
        const Polynomial sides[] = {expander.expand(c.left, form), expander.expand(c.right, form)};
        const double weights[] = {1, -1};
        problem.hold.push_back({weighted_sum(sides, weights), 0});
      }
    }
    problem.atoms = expander.atoms();
    problem.atom_sums = expander.atom_sums();
    problem.atom_graph = problem.exact_graph = graph;
    problem.exact = constraints;
    problem.exact_objective = objective;
    return problem;
  }

  // The lowest finite objective by enumeration; infinity when no point holds.
  double lowest() const {
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> values(graph.nodes().size()), point(3);
    for (point[0] = 1; point[0] <= upper[0]; ++point[0]) {
      for (point[1] = 1; point[1] <= upper[1]; ++point[1]) {
        for (point[2] = 1; point[2] <= upper[2]; ++point[2]) {
          evaluate(graph, point, values);
          bool all = true;
          for (const Comparison& c : constraints) {
            all = all && holds(c.relation, values[size_t(c.left)], values[size_t(c.right)]);
          }
          const double value = values[size_t(objective)];
          if (all && std::isfinite(value)) best = std::min(best, value);
        }
      }
    }
    return best;
  }
};

Problem from_text(const std::string& objective, const std::vector<std::string>& constraints, double upper) {
  Problem problem;
  const Scope scope = {
      {"x", problem.graph.symbol(0)}, {"y", problem.graph.symbol(1)}, {"z", problem.graph.symbol(2)}};
  Diagnostics diagnostics;
  problem.objective = parse_expression(objective, {}, scope, problem.graph, diagnostics);
  for (const std::string& text : constraints) {
    problem.constraints.push_back(parse_comparison(text, {}, scope, problem.graph, diagnostics));
  }
  diagnostics.raise_if_any();
  problem.upper = {upper, upper, upper};
  return problem;
}

TEST(BoxSearch, FindsAndProvesAKnownOptimum) {
  // Tiles of a 100 x 100 x 100 product that fit 300 words: the fewest loads.
  Problem problem = from_text("ceil(100/x) + ceil(100/y) + ceil(100/z)", {"x*y + y*z + x*z <= 300"}, 100);
  const BoxSearchResult result = minimise(problem.boxes());
  EXPECT_EQ(result.status, BoxSearchStatus::kOptimal);
  EXPECT_EQ(result.value, problem.lowest());
  EXPECT_EQ(result.bound, result.value);
  EXPECT_LT(result.nodes, 20000);
}

TEST(BoxSearch, SaysInfeasibleAndStopped) {
  Problem none = from_text("x + y + z", {"x*y*z <= 10", "x + y + z <= 100", "15 <= x"}, 50);
  EXPECT_EQ(minimise(none.boxes()).status, BoxSearchStatus::kInfeasible);
  Problem hard = from_text("mod(x*x*7 + y*y*11 + z*z*13, 101)", {"mod(x + y*3, 7) <= mod(z, 3)"}, 50);
  BoxSearchOptions few;
  few.most_nodes = 50;
  const BoxSearchResult stopped = minimise(hard.boxes(), few);
  EXPECT_EQ(stopped.status, BoxSearchStatus::kStopped);
  EXPECT_LE(stopped.bound, hard.lowest());
}

TEST(BoxSearch, EqualsEnumerationOnRandomExpressions) {
  constexpr uint64_t kSeed = 31;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  int feasible = 0, infeasible = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem;
    problem.objective = random_expression(problem.graph, random, 4);
    for (int64_t k = random.between(1, 3); k > 0; --k) {
      const int left = random_expression(problem.graph, random, 3);
      const int right = random_expression(problem.graph, random, 2);
      problem.constraints.push_back({left, right, Relation::kLessEqual});
    }
    for (int v = 0; v < kTestVariables; ++v) problem.upper.push_back(double(random.between(1, 12)));
    const double expected = problem.lowest();
    const BoxSearchResult result = minimise(problem.boxes());
    if (std::isinf(expected)) {
      EXPECT_EQ(result.status, BoxSearchStatus::kInfeasible) << "round " << round;
      ++infeasible;
      continue;
    }
    ++feasible;
    ASSERT_EQ(result.status, BoxSearchStatus::kOptimal) << "round " << round;
    EXPECT_NEAR(result.value, expected, 1e-8 * std::max(1.0, std::abs(expected))) << "round " << round;
  }
  EXPECT_GT(feasible, 200);
  EXPECT_GT(infeasible, 20);
}

}  // namespace
}  // namespace tilewright::study
