#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

TEST(ConvolutionOperators, Shapes) {
  EXPECT_EQ(infer("Conv", {f32({2, 6, 8, 8}), f32({4, 3, 3, 3}), f32({4})},
                  {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}}),
            "f32[2x4x4x8]");
  EXPECT_EQ(infer("Conv", {f32({1, 1, 8}), f32({4, 1, 3})}), "f32[1x4x6]");
  EXPECT_EQ(infer("ConvTranspose", {f32({1, 6, 4, 4}), f32({6, 2, 4, 4}), f32({4})},
                  {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}),
            "f32[1x4x8x8]");
  EXPECT_EQ(infer("ConvInteger", {of(kU8, {1, 1, 3, 3}), of(kI8, {5, 1, 2, 2}), of(kU8, {}), of(kI8, {5})}),
            "i32[1x5x2x2]");
  EXPECT_EQ(infer("QLinearConv", {of(kU8, {1, 1, 7, 7}), f32({}), of(kU8, {}), of(kI8, {2, 1, 1, 1}),
                                  f32({2}), of(kI8, {2}), f32({}), of(kU8, {}), of(kI32, {2})}),
            "u8[1x2x7x7]");
}

TEST(ConvolutionOperators, Reject) {
  EXPECT_EQ(
      infer("Conv", {f32({1, 3, 8, 8}), f32({4, 2, 3, 3})}),
      "node 'n' (Conv): 3 channels do not fit weights of shape 4x2x3x3 in 1 group; the weights' second size "
      "times group must be the number of channels");
  EXPECT_EQ(infer("Conv", {f32({1, 6, 8, 8}), f32({4, 2, 3, 3})}, {{"group", int64_t{3}}}),
            "node 'n' (Conv): 4 output channels do not divide into 3 groups");
  EXPECT_EQ(infer("Conv", {f32({1, 6, 8, 8}), f32({4, 2, 3, 3})}, {{"group", int64_t{0}}}),
            "node 'n' (Conv): attribute 'group' is 0; 1 or more is needed");
  EXPECT_EQ(infer("Conv", {f32({1, 2, 8, 8}), f32({4, 2, 3, 3}), f32({3})}),
            "node 'n' (Conv): input 2 ('x2') has shape 3, a list of 4 is needed");
  EXPECT_EQ(infer("Conv", {f32({1, 2, 8, 8}), f32({4, 2, 3})}),
            "node 'n' (Conv): weights of shape 4x2x3 do not fit an input of shape 1x2x8x8; both need the "
            "same number "
            "of axes");
  EXPECT_EQ(infer("Conv", {f32({1, 2, 8, 8})}), "node 'n' (Conv): 1 inputs; 2 to 3 needed");
  EXPECT_EQ(infer("Conv", {f32({1, 2, 8, 8}), none()}), "node 'n' (Conv): input 1 is missing");
  EXPECT_EQ(
      infer("Conv", {f32({1, 2, 8, 8}), f32({4, 2, 3, 3})}, {{"strides", 2.0f}, {"activation", int64_t{1}}}),
      "unsupported: node 'n' (Conv): attribute 'activation' is not supported; covered: auto_pad, dilations, "
      "group, "
      "kernel_shape, pads, strides\nnode 'n' (Conv): attribute 'strides' is a float; a list of integers is "
      "needed");
  EXPECT_EQ(infer("ConvTranspose", {f32({1, 6, 4, 4}), f32({4, 2, 4, 4})}),
            "node 'n' (ConvTranspose): 6 channels do not fit weights of shape 4x2x4x4; the weights' first "
            "size must be "
            "the number of channels");
  EXPECT_EQ(infer("ConvTranspose", {f32({1, 6, 4, 4}), f32({6, 2, 4, 4})}, {{"group", int64_t{4}}}),
            "node 'n' (ConvTranspose): 6 channels do not divide into 4 groups");
  EXPECT_EQ(infer("ConvInteger", {f32({1, 1, 3, 3}), of(kI8, {5, 1, 2, 2})}),
            "node 'n' (ConvInteger): input 0 ('x0') has type f32, i8 or u8 is needed");
  EXPECT_EQ(infer("QLinearConv", {of(kU8, {1, 1, 7, 7}), f32({3}), of(kU8, {}), of(kI8, {2, 1, 1, 1}),
                                  f32({2}), of(kI8, {2}), f32({}), of(kU8, {})}),
            "node 'n' (QLinearConv): input 1 ('x1') has shape 3, a single element is needed");
}

}  // namespace
}  // namespace tilewright::testing
