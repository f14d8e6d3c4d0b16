// 1,000 random problems that trying everything decides.
#include <gtest/gtest.h>

#include <cstdio>

#include "random_case.h"

namespace tilewright::cgra {
namespace {

TEST(CgraExhaustiveSlow, ExactMapperEqualsTryingEverything) {
  Random random(17);
  Tally tally;
  while (tally.optimal + tally.infeasible < 1000 && !HasFailure())
    compare(small_problem(random), 40000, tally);
  std::printf("optimal %d, infeasible %d (%d of them up to 24 clocks), left out %d\n", tally.optimal,
              tally.infeasible, tally.infeasible_to_24, tally.undecided);
  EXPECT_GT(tally.optimal, 400);
  EXPECT_GT(tally.infeasible, 200);
  EXPECT_LT(tally.undecided, 100);
}

}  // namespace
}  // namespace tilewright::cgra
