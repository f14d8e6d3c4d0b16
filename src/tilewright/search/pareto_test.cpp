#include "tilewright/search/pareto.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// The points that no other point dominates, by comparing all pairs.
template <size_t N>
std::set<std::array<int, N>> brute_front(const std::vector<std::array<int, N>>& points) {
  std::set<std::array<int, N>> front;
  for (const auto& point : points) {
    bool dominated = false;
    for (const auto& other : points) dominated |= other != point && bounds_from_below(other, point);
    if (!dominated) front.insert(point);
  }
  return front;
}

// Unit cells that some point covers, counted one by one.
template <size_t N>
int count_cells(const std::vector<std::array<int, N>>& points, int edge) {
  int total = 1, covered = 0;
  for (size_t i = 0; i < N; ++i) total *= edge;
  for (int cell = 0; cell < total; ++cell) {
    std::array<int, N> corner{};
    for (size_t i = 0, rest = size_t(cell); i < N; ++i, rest /= size_t(edge))
      corner[i] = int(rest % size_t(edge));
    for (const auto& point : points) {
      if (bounds_from_below(point, corner)) {
        ++covered;
        break;
      }
    }
  }
  return covered;
}

template <size_t N>
void compare_with_brute_force(uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << N << " objectives");
  Random random(seed);
  const int edge = int(random.between(2, 12));
  ParetoFront<int, N, int> front;
  std::vector<std::array<int, N>> points;
  for (int64_t count = random.between(0, 60); count > 0; --count) {
    std::array<int, N> point{};
    for (int& x : point) x = int(random.between(0, edge));
    const bool covered = std::any_of(points.begin(), points.end(),
                                     [&](const auto& other) { return bounds_from_below(other, point); });
    EXPECT_EQ(front.covers(point), covered);
    EXPECT_EQ(front.insert(point, [&] { return int(points.size()); }), !covered);
    points.push_back(point);
  }
  std::set<std::array<int, N>> found;
  for (const auto& member : front.members()) {
    found.insert(member.point);
    EXPECT_EQ(points[size_t(member.payload)], member.point);
    EXPECT_EQ(std::find(points.begin(), points.end(), member.point) - points.begin(), member.payload);
  }
  EXPECT_EQ(found.size(), front.size());
  EXPECT_EQ(found, brute_front(points));
  std::array<int, N> reference{};
  reference.fill(edge);
  EXPECT_EQ(front.hypervolume(reference), double(count_cells(points, edge)));
}

TEST(ParetoFront, EqualsBruteForceOnRandomPoints) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    compare_with_brute_force<2>(seed);
    compare_with_brute_force<3>(seed);
  }
}

TEST(ParetoFront, MergeKeepsTheUnion) {
  ParetoFront<int, 2, char> a, b;
  a.insert({1, 5}, [] { return 'a'; });
  a.insert({4, 4}, [] { return 'a'; });
  b.insert({3, 3}, [] { return 'b'; });
  b.insert({1, 5}, [] { return 'b'; });
  a.merge(std::move(b));
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a.members()[0].payload, 'a');
  EXPECT_EQ(a.members()[1].point, (std::array<int, 2>{3, 3}));
}

}  // namespace
}  // namespace tilewright
