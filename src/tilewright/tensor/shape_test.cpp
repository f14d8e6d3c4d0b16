#include "tilewright/tensor/shape.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ((Shape{2, 3, 4}.element_count()), 24);
  EXPECT_EQ((Shape{2, 0, 4}.element_count()), 0);
  EXPECT_EQ((Shape{2, 3, 4}.strides()), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_THROW((Shape{int64_t{1} << 40, int64_t{1} << 40}.element_count()), Error);
  EXPECT_THROW((Shape{-1, 2}.element_count()), Error);
  EXPECT_EQ(to_string(Shape{1, 3}), "1x3");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast({2, 3, 1}, {4}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {4, 1}), (Shape{4, 1}));
  EXPECT_EQ(broadcast({0}, {1}), (Shape{0}));
  EXPECT_THROW(broadcast({2}, {3}), Error);
}

// Every pair of shapes of up to two axes of 0 to 3, against the definition read from the last axis.
TEST(ShapeClass, BroadcastsAsDefined) {
  std::vector<Shape> shapes{Shape{}};
  for (int64_t x = 0; x <= 3; ++x) {
    shapes.push_back({x});
    for (int64_t y = 0; y <= 3; ++y) shapes.push_back({x, y});
  }
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      std::vector<int64_t> expected;
      bool fits = true;
      for (int back = std::max(a.rank(), b.rank()); back >= 1; --back) {
        const int64_t x = back <= a.rank() ? a[a.rank() - back] : 1;
        const int64_t y = back <= b.rank() ? b[b.rank() - back] : 1;
        fits = fits && (x == y || x == 1 || y == 1);
        expected.push_back(x == 1 ? y : x);
      }
      if (fits) {
        EXPECT_EQ(broadcast(a, b), Shape(expected)) << to_string(a) << " and " << to_string(b);
      } else {
        EXPECT_THROW(broadcast(a, b), Error) << to_string(a) << " and " << to_string(b);
      }
    }
  }
}

TEST(Shape, NormalizesAxes) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (int64_t axis = -rank; axis < rank; ++axis) {
      EXPECT_EQ(normalize_axis(axis, rank), axis < 0 ? axis + rank : axis);
    }
    EXPECT_THROW(normalize_axis(rank, rank), Error);
    EXPECT_THROW(normalize_axis(-rank - 1, rank), Error);
  }
  EXPECT_EQ(normalize_axis(-1, 4), 3);
  EXPECT_THROW(normalize_axis(4, 4), Error);
}

}  // namespace
}  // namespace tilewright
