#include "tilewright/base/random.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Random, MatchesThePublishedSplitMix64Sequence) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
}

TEST(Random, StaysInsideTheRangeAndReachesBothEnds) {
  Random random(7);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = random.between(-3, 4);
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 4);
    low |= value == -3;
    high |= value == 4;
  }
  EXPECT_TRUE(low && high);
  random.between(INT64_MIN, INT64_MAX);
}

TEST(LcgStream, FirstValueIsTheOneAfterTheFirstStep) {
  LcgStream stream(1);
  const uint64_t state = 6364136223846793005u + 1442695040888963407u;
  EXPECT_EQ(stream.next(), float(double(state >> 40) / 16777216.0));
}

}  // namespace
}  // namespace tilewright
