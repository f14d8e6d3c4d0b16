#include "tilewright/search/objective.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tilewright {
namespace {

using Pair = Lexicographic<int64_t, int64_t>;

TEST(Lexicographic, ComparesThePrimaryFirst) {
  EXPECT_LT((Pair{1, 9}), (Pair{2, 0}));
  EXPECT_LT((Pair{2, 0}), (Pair{2, 1}));
  EXPECT_EQ((Pair{2, 1}), (Pair{2, 1}));
  using Triple = Lexicographic<int, Pair>;
  EXPECT_LT((Triple{1, {2, 3}}), (Triple{1, {2, 4}}));
  EXPECT_EQ(as_double(Triple{7, {2, 3}}), 7.0);
}

TEST(Lexicographic, IsExactBeyondTheDoubles) {
  const int64_t big = int64_t(1) << 60;
  EXPECT_LT((Pair{big, 0}), (Pair{big + 1, 0}));
  using Wide = Lexicographic<__int128, int64_t>;
  const __int128 huge = __int128(1) << 100;
  EXPECT_LT((Wide{huge, 5}), (Wide{huge + 1, 0}));
}

TEST(Bounds, WorkObjectiveByObjectiveOnArrays) {
  using Point = std::array<int, 2>;
  EXPECT_EQ(tighter(Point{1, 5}, Point{3, 2}), (Point{3, 5}));
  EXPECT_EQ(lower(Point{1, 5}, Point{3, 2}), (Point{1, 2}));
  EXPECT_TRUE(bounds_from_below(Point{1, 2}, Point{1, 3}));
  EXPECT_FALSE(bounds_from_below(Point{1, 4}, Point{2, 3}));
  EXPECT_EQ(tighter(3, 4), 4);
  EXPECT_EQ(lower(3, 4), 3);
  EXPECT_TRUE(bounds_from_below(Pair{1, 2}, Pair{1, 2}));
}

}  // namespace
}  // namespace tilewright
