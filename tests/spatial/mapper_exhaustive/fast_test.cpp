// A part of slow_test.cpp that every test run affords.
#include <gtest/gtest.h>

#include "exhaustive_case.h"

namespace tilewright {
namespace {

TEST(MapperExhaustive, SixtyMapspacesEqualTheWalkersOptimum) {
  ExhaustiveTally tally;
  for (uint64_t seed = 1; seed <= 60; ++seed) compare_with_walker(seed, 1500, tally);
  tally.print();
}

}  // namespace
}  // namespace tilewright
