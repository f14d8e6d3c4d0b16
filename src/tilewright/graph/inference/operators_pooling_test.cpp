#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

TEST(PoolingOperators, Shapes) {
  EXPECT_EQ(infer("MaxPool", {f32({1, 3, 8, 9})}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}, 2),
            "f32[1x3x3x4] i64[1x3x3x4]");
  EXPECT_EQ(infer("MaxPool", {of(ElementType::kI8, {1, 3, 8, 8})},
                  {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}),
            "i8[1x3x4x4]");
  EXPECT_EQ(infer("AveragePool", {f32({1, 3, 8, 8})},
                  {{"kernel_shape", Ints{2, 2}},
                   {"auto_pad", std::string("SAME_UPPER")},
                   {"count_include_pad", int64_t{1}}}),
            "f32[1x3x8x8]");
  EXPECT_EQ(infer("GlobalAveragePool", {f32({2, 3, 8, 9})}), "f32[2x3x1x1]");
  EXPECT_EQ(infer("GlobalMaxPool", {f32({2, 3, 8})}), "f32[2x3x1]");
}

TEST(PoolingOperators, Reject) {
  EXPECT_EQ(infer("MaxPool", {f32({1, 3, 8, 8})}), "node 'n' (MaxPool): attribute 'kernel_shape' is missing");
  EXPECT_EQ(infer("MaxPool", {f32({1, 3, 8, 8})}, {{"kernel_shape", Ints{3}}}),
            "node 'n' (MaxPool): attribute 'kernel_shape' has 1 numbers, 2 spatial axes need 2");
  EXPECT_EQ(infer("AveragePool", {of(ElementType::kI8, {1, 3, 8, 8})}, {{"kernel_shape", Ints{3, 3}}}),
            "node 'n' (AveragePool): input 0 ('x0') has type i8, a floating-point type is needed");
  EXPECT_EQ(
      infer("AveragePool", {f32({1, 3, 8, 8})}, {{"kernel_shape", Ints{3, 3}}, {"dilations", Ints{2, 2}}}),
      "unsupported: node 'n' (AveragePool): attribute 'dilations' is not supported; covered: auto_pad, "
      "ceil_mode, "
      "kernel_shape, pads, strides, count_include_pad");
  EXPECT_EQ(infer("GlobalAveragePool", {f32({1, 3})}),
            "node 'n' (GlobalAveragePool): input has shape 1x3, batch, channels and at least one spatial "
            "axis are needed");
}

}  // namespace
}  // namespace tilewright::testing
