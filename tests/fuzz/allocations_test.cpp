#include <gtest/gtest.h>

#include "fuzz/allocation_targets.h"

namespace tilewright {
namespace {

TEST(Allocations, SurviveDamage) {
  constexpr uint64_t kSeed = 312;
  constexpr int kMutations = 400;
  for (const FuzzTarget& target : allocation_targets()) {
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
  }
}

}  // namespace
}  // namespace tilewright
