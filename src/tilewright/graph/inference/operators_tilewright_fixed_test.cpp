#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

std::string infer_fixed(const std::string& op, const std::vector<Given>& inputs, Attributes attributes = {}) {
  return infer(op, inputs, std::move(attributes), 1, kTilewrightDomain);
}

const Attribute kQ22 = int64_t{22};

TEST(FixedPointOperators, Shapes) {
  EXPECT_EQ(infer_fixed("FixedConv", {of(kI32, {1, 4, 8, 8}), of(kI32, {6, 2, 3, 3}), of(kI32, {6})},
                        {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}, {"fraction", kQ22}}),
            "i32[1x6x8x8]");
  EXPECT_EQ(infer_fixed("FixedGemm", {of(kI32, {2, 5}), of(kI32, {3, 5}), of(kI32, {3})},
                        {{"fraction", kQ22}, {"clip_low", int64_t{0}}}),
            "i32[2x3]");
  EXPECT_EQ(infer_fixed("FixedAdd", {of(kI32, {2, 5}), of(kI32, {2, 5})}), "i32[2x5]");
  EXPECT_EQ(infer_fixed("FixedAveragePool", {of(kI32, {1, 4, 8, 8})},
                        {{"kernel_shape", Ints{2, 2}},
                         {"strides", Ints{2, 2}},
                         {"multiplier", int64_t{1 << 20}},
                         {"fraction", kQ22}}),
            "i32[1x4x4x4]");
  EXPECT_EQ(infer_fixed("FixedLookup", {of(kI32, {3, 2}), of(kI32, {513})},
                        {{"fraction", kQ22}, {"input_shift", int64_t{18}}}),
            "i32[3x2]");
  EXPECT_EQ(infer_fixed("FixedEncode", {f32({3, 2})}, {{"fraction", kQ22}}), "i32[3x2]");
  EXPECT_EQ(infer_fixed("FixedDecode", {of(kI32, {3, 2})}, {{"fraction", kQ22}}), "f32[3x2]");
  EXPECT_EQ(infer_fixed("QLookup", {of(kI8, {3, 2}), of(kI8, {256})}), "i8[3x2]");
}

TEST(FixedPointOperators, DataMovementTakesI32) {
  EXPECT_EQ(infer("MaxPool", {of(kI32, {1, 2, 4, 4})}, {{"kernel_shape", Ints{2, 2}}}), "i32[1x2x3x3]");
  EXPECT_EQ(infer("Relu", {of(kI32, {4})}), "i32[4]");
  EXPECT_EQ(infer("Reshape", {of(kI32, {4, 2}), ints({8})}), "i32[8]");
  EXPECT_EQ(infer("Flatten", {of(kI32, {4, 2, 3})}), "i32[4x6]");
  EXPECT_EQ(infer("Transpose", {of(kI32, {4, 2})}, {{"perm", Ints{1, 0}}}), "i32[2x4]");
  EXPECT_EQ(infer("Concat", {of(kI32, {4, 2}), of(kI32, {4, 3})}, {{"axis", int64_t{1}}}), "i32[4x5]");
}

TEST(FixedPointOperators, Reject) {
  const Given x = of(kI32, {2, 5}), w = of(kI32, {3, 5}), b = of(kI32, {3});
  EXPECT_EQ(infer_fixed("FixedGemm", {of(kI8, {2, 5}), w, b}, {{"fraction", kQ22}}),
            "node 'n' (FixedGemm): input 0 ('x0') has type i8, i32 is needed");
  EXPECT_EQ(infer_fixed("FixedGemm", {x, of(kI32, {3, 6}), b}, {{"fraction", kQ22}}),
            "node 'n' (FixedGemm): 2x5 times 3x6 (transposed): the inner sizes differ");
  EXPECT_EQ(infer_fixed("FixedGemm", {x, w, of(kI32, {4})}, {{"fraction", kQ22}}),
            "node 'n' (FixedGemm): input 2 ('x2') has shape 4, a list of 3 is needed");
  EXPECT_EQ(infer_fixed("FixedGemm", {x, w, b}), "node 'n' (FixedGemm): attribute 'fraction' is missing");
  EXPECT_EQ(infer_fixed("FixedGemm", {x, w, b}, {{"fraction", int64_t{31}}}),
            "node 'n' (FixedGemm): attribute 'fraction' is 31, which is outside 0..30");
  EXPECT_EQ(infer_fixed("FixedGemm", {x, w, b}, {{"fraction", kQ22}, {"clip_high", int64_t{1} << 31}}),
            "node 'n' (FixedGemm): attribute 'clip_high' is 2147483648, which is outside "
            "-2147483648..2147483647");
  EXPECT_EQ(infer_fixed("FixedAdd", {x, x}, {{"clip_low", int64_t{3}}, {"clip_high", int64_t{2}}}),
            "node 'n' (FixedAdd): clip_low is 3, clip_high is 2");
  EXPECT_EQ(infer_fixed("FixedAdd", {x, w}), "node 'n' (FixedAdd): shapes 2x5 and 3x5 differ");
  EXPECT_EQ(infer_fixed("FixedAveragePool", {of(kI32, {1, 4, 8, 8})},
                        {{"kernel_shape", Ints{2, 2}}, {"multiplier", int64_t{0}}, {"fraction", kQ22}}),
            "node 'n' (FixedAveragePool): attribute 'multiplier' is 0, which is outside 1..2147483647");
  EXPECT_EQ(
      infer_fixed("FixedLookup", {x, of(kI32, {512})}, {{"fraction", kQ22}, {"input_shift", int64_t{18}}}),
      "node 'n' (FixedLookup): input 1 ('x1') has shape 512, a list of 513 is needed");
  EXPECT_EQ(
      infer_fixed("FixedLookup", {x, of(kI32, {513})}, {{"fraction", kQ22}, {"input_shift", int64_t{24}}}),
      "node 'n' (FixedLookup): attribute 'input_shift' is 24, which is outside 0..23");
  EXPECT_EQ(infer_fixed("FixedEncode", {x}, {{"fraction", kQ22}}),
            "node 'n' (FixedEncode): input 0 ('x0') has type i32, f32 is needed");
  EXPECT_EQ(infer_fixed("QLookup", {of(kI8, {2}), of(kI8, {255})}),
            "node 'n' (QLookup): input 1 ('x1') has shape 255, a list of 256 is needed");
}

}  // namespace
}  // namespace tilewright::testing
