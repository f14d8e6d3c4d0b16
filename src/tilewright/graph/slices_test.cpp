#include "tilewright/graph/slices.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

const Node kNode{"n", "", "Slice", {}, {}, {}};

SliceRange one(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t axis = 0;
  return slice_ranges(kNode, {size}, {&start, 1}, {&end, 1}, {&axis, 1}, {&step, 1})[0];
}

TEST(Slices, KnownCases) {
  EXPECT_EQ(one(10, 0, 10, 1), (SliceRange{0, 1, 10}));
  EXPECT_EQ(one(10, -3, INT64_MAX, 1), (SliceRange{7, 1, 3}));
  EXPECT_EQ(one(10, INT64_MAX, INT64_MIN, -1), (SliceRange{9, -1, 10}));
  EXPECT_EQ(one(10, 20, 30, 1).count, 0);
  EXPECT_EQ(one(10, 3, 3, -1).count, 0);
  EXPECT_EQ(one(0, -1, INT64_MIN, -1).count, 0);
  EXPECT_EQ(one(10, 9, 0, INT64_MIN).count, 1);
  EXPECT_EQ(one(10, INT64_MIN, INT64_MAX, INT64_MAX).count, 1);
}

// Numpy's rule spelled out: walk from the start by the step; an index counts while it lies between the
// (clamped) ends.
TEST(Slices, TakesWhatAWalkTakes) {
  const uint64_t seed = 3;
  Random random(seed);
  for (int round = 0; round < 20000; ++round) {
    const int64_t size = random.between(0, 8), start = random.between(-12, 12), end = random.between(-12, 12);
    int64_t step = random.between(-4, 4);
    if (step == 0) step = 5;
    const int64_t from = start < 0 ? start + size : start, to = end < 0 ? end + size : end;
    std::vector<int64_t> walked;
    if (step > 0) {
      for (int64_t i = std::max<int64_t>(from, 0); i < std::min(to, size); i += step) walked.push_back(i);
    } else {
      for (int64_t i = std::min(std::max<int64_t>(from, 0), size - 1);
           i > std::max<int64_t>(to, -1) && i >= 0; i += step) {
        walked.push_back(i);
      }
    }
    const SliceRange range = one(size, start, end, step);
    std::vector<int64_t> taken;
    for (int64_t k = 0; k < range.count; ++k) taken.push_back(range.start + k * range.step);
    ASSERT_EQ(taken, walked) << size << " [" << start << ":" << end << ":" << step << "], seed " << seed;
  }
}

}  // namespace
}  // namespace tilewright
