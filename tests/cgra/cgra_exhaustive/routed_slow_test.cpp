// 1,000 random problems of the routed tier that trying every place and every way decides.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/cgra/routed_testing.h"

namespace tilewright::cgra {
namespace {

TEST(CgraExhaustiveSlow, RoutedMapperEqualsTryingEverything) {
  Random random(18);
  RoutedTally tally;
  for (int run = 0; tally.mapped + tally.unmapped < 1000 && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    compare_routed(random_routed_problem(random, 6), 8, 4000, tally);
  }
  std::printf("mapped %d, unmapped up to 8 clocks %d (%d of them for want of ways), left out %d\n",
              tally.mapped, tally.unmapped, tally.blocked, tally.undecided);
  EXPECT_GT(tally.mapped, 150);
  EXPECT_GT(tally.unmapped, 200);
  EXPECT_GT(tally.blocked, 8);
}

}  // namespace
}  // namespace tilewright::cgra
