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

TEST(Shape, NormalizesAxes) {
  EXPECT_EQ(normalize_axis(-1, 4), 3);
  EXPECT_THROW(normalize_axis(4, 4), Error);
}

}  // namespace
}  // namespace tilewright
