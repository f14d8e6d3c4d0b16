// The proof checker: small proofs by hand, proofs of the solver, and proofs with something taken out.
#include "tilewright/cgra/exact/drat_check.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {
namespace {

const std::string kAllPairs = "c two variables, all clauses\np cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";

TEST(DratCheck, UnitPropagation) {
  EXPECT_TRUE(check_drat("p cnf 1 2\n1 0 -1 0\n", "").proven);
  EXPECT_TRUE(check_drat("p cnf 1 1\n0\n", "").proven);
  EXPECT_FALSE(check_drat(kAllPairs, "").proven);
  const DratCheck check = check_drat(kAllPairs, "1 0\n0\n");
  EXPECT_TRUE(check.proven);
  EXPECT_EQ(check.clauses, 4);
  EXPECT_EQ(check.by_resolution, 0);
}

TEST(DratCheck, AnyBlanksPartTheWords) {
  std::string tabs = kAllPairs;
  for (char& c : tabs) c = c == ' ' ? '\t' : c;
  EXPECT_TRUE(check_drat(tabs, "1\t0\r\n\t0\n").proven);
}

TEST(DratCheck, RefusesWhatDoesNotFollow) {
  const std::string possible = "p cnf 2 2\n1 2 0\n-1 2 0\n";
  EXPECT_EQ(check_drat(possible, "2 0\n0\n").problem, "lemma 2 does not follow");
  EXPECT_EQ(check_drat(possible, "2 0\n").problem, "the proof ends without a contradiction");
  // Without the two clauses that are deleted first, the lemma does not follow.
  EXPECT_FALSE(check_drat(kAllPairs, "d 1 -2 0\nd 1 2 0\n1 0\n0\n").proven);
}

TEST(DratCheck, ResolutionOnTheFirstLiteral) {
  // Nothing mentions -3, so (3 1) may be added although it does not follow; written (1 3) it may not.
  const std::string formula = "p cnf 3 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";
  const DratCheck check = check_drat(formula, "3 1 0\n1 0\n0\n");
  EXPECT_TRUE(check.proven);
  EXPECT_EQ(check_drat("p cnf 3 1\n-1 2 0\n", "3 1 0\n0\n").by_resolution, 2);
  EXPECT_EQ(check_drat("p cnf 3 1\n-1 2 0\n", "1 3 0\n0\n").problem, "lemma 1 does not follow");
}

TEST(DratCheck, BrokenTextsAreNamedWithTheirLine) {
  const auto message = [](const std::string& formula, const std::string& proof) -> std::string {
    try {
      check_drat(formula, proof);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("p dnf 1 1\n1 0\n", "").find("'p cnf VARIABLES CLAUSES' is expected"), std::string::npos);
  EXPECT_NE(message("p cnf 1 1\n2 0\n", "").find("formula, line 2: literal 2 of 1 variables"),
            std::string::npos);
  EXPECT_NE(message("p cnf 1 2\n1 0\n", "").find("1 clauses, 2 are announced"), std::string::npos);
  EXPECT_NE(message("p cnf 1 1\n1 x 0\n", "").find("'x' is not a number"), std::string::npos);
  EXPECT_NE(message("p cnf 1 1\n1 0\n", "1").find("proof, line 1: a clause without its 0"),
            std::string::npos);
}

// Random formulas of three literals near the threshold: every refutation of the solver is accepted, and
// formulas without one are not refuted by proofs of others.
TEST(DratCheck, AcceptsTheSolversProofs) {
  Random random(3);
  const std::string path = testing::TempDir() + "drat_check_test.drat";
  int refuted = 0;
  for (int run = 0; run < 60; ++run) {
    Cnf cnf;
    const int variables = int(random.between(5, 60)), clauses = variables * 9 / 2;
    for (int i = 0; i < variables; ++i) cnf.variable();
    for (int i = 0; i < clauses; ++i) {
      std::vector<int> clause;
      for (int j = 0; j < 3; ++j)
        clause.push_back(int(random.between(1, variables)) * (random.chance(0.5) ? 1 : -1));
      cnf.clause(clause);
    }
    SatSolver solver;
    ASSERT_TRUE(solver.trace_proof(path));
    solver.add(cnf);
    const Satisfiable answer = solver.solve();
    solver.close_proof();
    const DratCheck check = check_drat(dimacs(cnf), read_text_file(path));
    EXPECT_EQ(check.proven, answer == Satisfiable::kNo) << run << " " << check.problem;
    refuted += answer == Satisfiable::kNo;
  }
  EXPECT_GT(refuted, 20);
  EXPECT_LT(refuted, 58);
}

}  // namespace
}  // namespace tilewright::cgra
