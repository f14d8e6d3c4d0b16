// 2,000 random mapspaces of 1,000 to 100,000 mappings: every mapping costed by the walker, the least one
// compared with the mapper's. In parts of 50 seeds, so that they run side by side.
#include <gtest/gtest.h>

#include "exhaustive_case.h"

namespace tilewright {
namespace {

class MapperExhaustiveSweep : public testing::TestWithParam<int> {};

TEST_P(MapperExhaustiveSweep, EqualsTheWalkersOptimum) {
  ExhaustiveTally tally;
  const uint64_t first = 10'000 + 50 * uint64_t(GetParam());
  for (uint64_t seed = first; seed < first + 50; ++seed) {
    compare_with_walker(seed, 100'000, tally);
    if (HasFatalFailure()) break;
  }
  tally.print();
}

INSTANTIATE_TEST_SUITE_P(Seeds, MapperExhaustiveSweep, testing::Range(0, 40));

}  // namespace
}  // namespace tilewright
