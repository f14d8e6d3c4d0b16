// The equations of the paper on its own examples.
#include <gtest/gtest.h>

#include "support/spatial/value_reuse_testing.h"

namespace tilewright::study {
namespace {

TEST(Reuse, ToyExampleOfThePaper) {
  // A pixel used by 24 MACs: one DRAM read, two buffer reads, three receiving PEs each, four MACs each.
  const LevelAccesses accesses = input_accesses({1, 2, 3, 4});
  EXPECT_EQ(accesses.dram, 1);
  EXPECT_EQ(accesses.buffer, 2);
  EXPECT_EQ(accesses.array, 6);
  EXPECT_EQ(accesses.register_file, 24);
  EXPECT_EQ(accesses.energy(AccessEnergy{}), 248);
}

TEST(Reuse, PartialSumExampleOfThePaper) {
  // 36 accumulations.
  const LevelAccesses accesses = output_accesses({2, 3, 3, 2});
  EXPECT_EQ(accesses.dram, 3);
  EXPECT_EQ(accesses.buffer, 8);
  EXPECT_EQ(accesses.array, 12);
  EXPECT_EQ(accesses.register_file, 36);
  EXPECT_EQ(accesses.energy(AccessEnergy{}), 708);
}

TEST(Reuse, ValueThatStaysAtOneLevelCostsNothingBelow) {
  const LevelAccesses accesses = output_accesses({1, 1, 1, 5});
  EXPECT_EQ(accesses.dram, 1);
  EXPECT_EQ(accesses.buffer, 0);
  EXPECT_EQ(accesses.array, 0);
  EXPECT_EQ(accesses.register_file, 8);
}

}  // namespace
}  // namespace tilewright::study
