#include "tilewright/search/separable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using Needs = SeparableProblem::Needs;

// Whole numbers, so that sums are exact in any order.
SeparableProblem random_problem(Random& random, int variables, int terms, int needs) {
  SeparableProblem problem;
  for (int v = 0; v < variables; ++v) problem.values.push_back(int(random.between(1, 4)));
  for (int t = 0; t < terms; ++t) {
    SeparableProblem::Term term;
    for (int v = 0; v < variables; ++v) {
      if (term.variables.size() < 3 && random.chance(2.0 / variables)) term.variables.push_back(v);
    }
    if (random.chance(0.5)) std::reverse(term.variables.begin(), term.variables.end());
    int64_t cells = 1;
    for (const int v : term.variables) cells *= problem.values[size_t(v)];
    for (int64_t cell = 0; cell < cells; ++cell) {
      term.options.emplace_back();
      for (int64_t o = random.between(random.chance(0.1) ? 0 : 1, 3); o > 0; --o) {
        SeparableProblem::Option option{double(random.between(0, 40)), {}};
        for (int n = 0; n < needs; ++n) option.needs[size_t(n)] = double(random.between(0, 20));
        term.options.back().push_back(option);
      }
    }
    problem.terms.push_back(term);
  }
  for (int n = 0; n < needs; ++n) problem.limits.push_back(double(random.between(4 * terms, 14 * terms)));
  return problem;
}

struct Sum {
  double loss = 0;
  Needs needs{};
  bool possible = true;
};

Sum sum_of_choice(const SeparableProblem& problem, const std::vector<int>& values,
                  const std::vector<int>& options) {
  Sum sum;
  for (size_t t = 0; t < problem.terms.size(); ++t) {
    size_t cell = 0, stride = 1;
    for (const int v : problem.terms[t].variables) {
      cell += stride * size_t(values[size_t(v)]);
      stride *= size_t(problem.values[size_t(v)]);
    }
    const auto& list = problem.terms[t].options[cell];
    if (options[t] >= int(list.size())) {
      sum.possible = false;
      return sum;
    }
    const SeparableProblem::Option& option = list[size_t(options[t])];
    sum.loss += option.loss;
    for (size_t n = 0; n < sum.needs.size(); ++n) sum.needs[n] += option.needs[n];
  }
  for (size_t n = 0; n < problem.limits.size(); ++n) {
    if (sum.needs[n] > problem.limits[n]) sum.possible = false;
  }
  return sum;
}

// Every value of every variable with every option of every term.
std::vector<Sum> all_choices(const SeparableProblem& problem) {
  std::vector<Sum> all;
  std::vector<int> values(problem.values.size(), 0), options(problem.terms.size(), 0);
  std::vector<int> digits(values.size() + options.size(), 0);
  while (true) {
    std::copy(digits.begin(), digits.begin() + std::ptrdiff_t(values.size()), values.begin());
    std::copy(digits.begin() + std::ptrdiff_t(values.size()), digits.end(), options.begin());
    const Sum sum = sum_of_choice(problem, values, options);
    if (sum.possible) all.push_back(sum);
    size_t at = 0;
    for (; at < digits.size(); ++at) {
      const int most = at < values.size() ? problem.values[at] : 3;
      if (++digits[at] < most) break;
      digits[at] = 0;
    }
    if (at == digits.size()) return all;
  }
}

bool covers_sum(const Sum& a, const Sum& b) {
  if (a.loss > b.loss) return false;
  for (size_t n = 0; n < a.needs.size(); ++n) {
    if (a.needs[n] > b.needs[n]) return false;
  }
  return true;
}

TEST(Separable, FrontEqualsEnumeration) {
  Random random(test_seed());
  int64_t points = 0, empty = 0;
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const SeparableProblem problem = random_problem(random, int(random.between(1, 4)),
                                                    int(random.between(1, 6)), int(random.between(1, 3)));
    const SeparableFront front = solve_separable(problem);
    ASSERT_TRUE(front.exact);
    const std::vector<Sum> all = all_choices(problem);
    empty += all.empty() ? 1 : 0;
    std::vector<Sum> told;
    for (const SeparableSolution& solution : front.solutions) {
      const Sum sum = sum_of_choice(problem, solution.values, solution.options);
      ASSERT_TRUE(sum.possible);
      ASSERT_EQ(sum.loss, solution.loss);
      ASSERT_EQ(sum.needs, solution.needs);
      told.push_back(sum);
    }
    for (const Sum& sum : all) {
      ASSERT_TRUE(std::any_of(told.begin(), told.end(), [&](const Sum& t) { return covers_sum(t, sum); }));
    }
    for (size_t a = 0; a < told.size(); ++a) {
      for (size_t b = 0; b < told.size(); ++b) ASSERT_TRUE(a == b || !covers_sum(told[a], told[b]));
      ASSERT_TRUE(a == 0 || told[a - 1].loss <= told[a].loss);
    }
    points += int64_t(told.size());
  }
  EXPECT_GT(points, 800);
  EXPECT_LT(empty, 200);
}

// A chain as long as a network, by dynamic programming over loss alone for each whole need: thinned fronts
// lose little.
TEST(Separable, ThinnedFrontOfLongChainStaysNear) {
  Random random(test_seed() + 1);
  constexpr int kLayers = 24, kValues = 5, kMost = 2400;
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed() + 1) + ", case " + std::to_string(i));
    SeparableProblem problem;
    problem.values.assign(kLayers + 1, kValues);
    problem.limits = {double(kMost)};
    for (int t = 0; t < kLayers; ++t) {
      SeparableProblem::Term term;
      term.variables = {t, t + 1};
      for (int cell = 0; cell < kValues * kValues; ++cell) {
        term.options.emplace_back();
        for (int o = 0; o < 3; ++o) {
          const int64_t need = random.between(1, 200);
          term.options.back().push_back(
              {1e4 / double(need) * (0.5 + random.uniform()), {double(need), 0, 0, 0}});
        }
      }
      problem.terms.push_back(term);
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> best(kValues, std::vector<double>(kMost + 1, 0));
    for (const SeparableProblem::Term& term : problem.terms) {
      std::vector<std::vector<double>> next(kValues, std::vector<double>(kMost + 1, kNone));
      for (int cell = 0; cell < kValues * kValues; ++cell) {
        for (const SeparableProblem::Option& option : term.options[size_t(cell)]) {
          for (int used = int(option.needs[0]); used <= kMost; ++used) {
            double& to = next[size_t(cell / kValues)][size_t(used)];
            to =
                std::min(to, best[size_t(cell % kValues)][size_t(used - int(option.needs[0]))] + option.loss);
          }
        }
      }
      best = next;
    }
    double optimum = kNone;
    for (const auto& row : best) optimum = std::min(optimum, row[kMost]);
    const SeparableFront whole = solve_separable(problem, 100'000), thinned = solve_separable(problem, 200);
    ASSERT_TRUE(whole.exact);
    ASSERT_FALSE(thinned.exact);
    ASSERT_FALSE(thinned.solutions.empty());
    EXPECT_NEAR(whole.solutions.front().loss, optimum, 1e-6 * optimum);
    EXPECT_LE(thinned.solutions.front().loss, 1.02 * optimum);
  }
}

TEST(Separable, NothingWithinLimits) {
  SeparableProblem problem;
  problem.values = {2};
  problem.terms = {{{0}, {{{1, {5, 0, 0, 0}}}, {{2, {4, 0, 0, 0}}}}}};
  problem.limits = {3};
  EXPECT_TRUE(solve_separable(problem).solutions.empty());
  problem.limits = {4};
  ASSERT_EQ(solve_separable(problem).solutions.size(), 1u);
  EXPECT_EQ(solve_separable(problem).solutions[0].values[0], 1);
}

TEST(Separable, EndsWithItsDeadline) {
  Random random(test_seed() + 2);
  const SeparableProblem problem = random_problem(random, 4, 6, 2);
  const Deadline over(0);
  EXPECT_THROW(solve_separable(problem, 1000, &over), Expired);
}

}  // namespace
}  // namespace tilewright
