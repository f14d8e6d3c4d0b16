// The cardinality encodings against counting, and the solver's answers.
#include "tilewright/cgra/sat/solver.h"

#include <gtest/gtest.h>

#include <vector>

namespace tilewright::cgra {
namespace {

TEST(Cnf, AtMostHoldsForExactlyTheRightAssignments) {
  for (int count = 1; count <= 8; ++count) {
    for (int most = -1; most <= count; ++most) {
      Cnf cnf;
      std::vector<int> literals;
      for (int i = 0; i < count; ++i) literals.push_back(i % 2 == 0 ? cnf.variable() : -cnf.variable());
      cnf.at_most(most, literals);
      SatSolver solver;
      solver.add(cnf);
      for (int set = 0; set < 1 << count; ++set) {
        std::vector<int> assumed;
        for (int i = 0; i < count; ++i) assumed.push_back((set >> i & 1) != 0 ? literals[i] : -literals[i]);
        EXPECT_EQ(solver.solve(assumed) == Satisfiable::kYes, __builtin_popcount(set) <= most)
            << count << " " << most << " " << set;
      }
    }
  }
}

TEST(SatSolver, GrowsAndNamesFailedAssumptions) {
  Cnf cnf;
  const int a = cnf.variable(), b = cnf.variable(), c = cnf.variable();
  cnf.clause({-a, -b});
  SatSolver solver;
  solver.add(cnf);
  const std::vector<int> assumed{a, b, c};
  ASSERT_EQ(solver.solve(assumed), Satisfiable::kNo);
  EXPECT_TRUE(solver.failed(a) && solver.failed(b));
  EXPECT_FALSE(solver.failed(c));
  ASSERT_EQ(solver.solve(), Satisfiable::kYes);
  cnf.clause({a});
  solver.add(cnf);
  ASSERT_EQ(solver.solve(), Satisfiable::kYes);
  EXPECT_TRUE(solver.value(a) && solver.value(-b));
}

// n + 1 pigeons do not fit into n holes: too hard within one conflict.
TEST(SatSolver, StopsAtItsLimits) {
  const int holes = 14;
  Cnf cnf;
  std::vector<std::vector<int>> in(holes);
  for (int pigeon = 0; pigeon <= holes; ++pigeon) {
    std::vector<int> some;
    for (int hole = 0; hole < holes; ++hole) {
      some.push_back(cnf.variable());
      in[hole].push_back(some.back());
    }
    cnf.clause(some);
  }
  for (const std::vector<int>& pigeons : in) cnf.at_most_one(pigeons);
  SatSolver solver;
  solver.add(cnf);
  EXPECT_EQ(solver.solve({}, {.conflicts = 1}), Satisfiable::kUnknown);
  const Deadline over(0), soon(0.05);
  EXPECT_EQ(solver.solve({}, {.deadline = &over}), Satisfiable::kUnknown);
  EXPECT_EQ(solver.solve({}, {.deadline = &soon}), Satisfiable::kUnknown);
  EXPECT_EQ(soon.ending(), Ending::kTime);
}

}  // namespace
}  // namespace tilewright::cgra
