#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "addition_grid.h"
#include "support/random_seed_testing.h"

namespace tilewright::random_layers {
namespace {

constexpr const char* kAdditionHardware = TILEWRIGHT_SOURCE_DIR "/hardware";

// The lowest digits of both multipliers are zero and their common factor exceeds the shift, in every width.
TEST(AdditionMultipliersClass, EveryPairEqualsTheReference) {
  const int64_t cases = test_cases(1500);
  // The grid has 23 * 23 pairs with two signs, twice each, on 13 overlays.
  constexpr int64_t kGrid = 23 * 23 * 2 * 2 * 13;
  AdditionSummary summary =
      check_powers_of_two(test_seed(), std::max<int64_t>(1, kGrid / cases), kAdditionHardware);
  add(summary, check_random_multipliers(test_seed(), cases, kAdditionHardware));
  RecordProperty("cases", int(summary.pairs));
  std::printf("seed %llu: %s", (unsigned long long)test_seed(), describe(summary).c_str());
  EXPECT_EQ(summary.wrong, 0) << "seed " << test_seed() << "\n" << summary.first_problems;
  EXPECT_GE(summary.pairs, cases);
  EXPECT_GE(summary.by_hardware.size(), 12u);  // additions do not run on 1-bit overlays
}

}  // namespace
}  // namespace tilewright::random_layers
