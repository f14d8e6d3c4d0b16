// 150 random problems that trying everything decides.
#include <gtest/gtest.h>

#include <cstdio>

#include "random_case.h"

namespace tilewright::cgra {
namespace {

TEST(CgraExhaustiveFast, ExactMapperEqualsTryingEverything) {
  Random random(5);
  Tally tally;
  while (tally.optimal + tally.infeasible < 150 && !HasFailure())
    compare(small_problem(random), 10000, tally);
  std::printf("optimal %d, infeasible %d (%d of them up to 24 clocks), left out %d\n", tally.optimal,
              tally.infeasible, tally.infeasible_to_24, tally.undecided);
  EXPECT_GT(tally.optimal, 60);
  EXPECT_GT(tally.infeasible, 30);
  EXPECT_LT(tally.undecided, 15);
}

}  // namespace
}  // namespace tilewright::cgra
