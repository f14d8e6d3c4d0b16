#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

std::string infer_q(const std::string& op, const std::vector<Given>& inputs, Attributes attributes = {}) {
  return infer(op, inputs, std::move(attributes), 1, kTilewrightDomain);
}

TEST(QuantizedOperators, OnnxForms) {
  EXPECT_EQ(infer("QuantizeLinear", {f32({1, 3, 2}), f32({3}), of(kI8, {3})}), "i8[1x3x2]");
  EXPECT_EQ(infer("QuantizeLinear", {f32({1, 3, 2}), f32({})}), "u8[1x3x2]");
  EXPECT_EQ(infer("DequantizeLinear", {of(kI32, {5}), f32({})}), "f32[5]");
  EXPECT_EQ(infer("DequantizeLinear", {of(kI8, {5, 2}), f32({5}), of(kI8, {5})}, {{"axis", int64_t{0}}}),
            "f32[5x2]");
  EXPECT_EQ(infer("DynamicQuantizeLinear", {f32({5})}, {}, 3), "u8[5] f32[scalar] u8[scalar]");
  EXPECT_EQ(infer("QuantizeLinear", {f32({1, 3, 2}), f32({2}), of(kI8, {2})}),
            "node 'n' (QuantizeLinear): input 1 ('x1') has shape 2, a list of 3 is needed");
  EXPECT_EQ(infer("QuantizeLinear", {f32({1, 3, 2}), f32({3}), of(kI8, {2})}),
            "node 'n' (QuantizeLinear): input 2 ('x2') has shape 2, a list of 3 is needed");
  EXPECT_EQ(infer("DequantizeLinear", {of(kI8, {5}), f32({}), of(kU8, {})}),
            "node 'n' (DequantizeLinear): input 0 ('x0') has type i8, input 2 ('x2') has type u8; both need "
            "the same "
            "type");
  EXPECT_EQ(infer("DequantizeLinear", {f32({5}), f32({})}),
            "node 'n' (DequantizeLinear): input 0 ('x0') has type f32, an integer type is needed");
}

TEST(QuantizedOperators, IntegerForms) {
  EXPECT_EQ(
      infer_q("QConv", {of(kI8, {1, 4, 8, 8}), of(kI8, {6, 2, 3, 3}), of(kI32, {6}), i32s({1}), i32s({7})},
              {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}, {"pad_value", int64_t{-5}}}),
      "i8[1x6x8x8]");
  EXPECT_EQ(infer_q("QConvTranspose",
                    {of(kI8, {1, 4, 4, 4}), of(kI16, {4, 3, 2, 2}), of(kI32, {3}), i32s({1, 2, 3}),
                     i32s({7, 7, 7})},
                    {{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 1}}}),
            "i8[1x3x9x9]");
  EXPECT_EQ(infer_q("QGemm", {of(kI8, {2, 5}), of(kI8, {3, 5}), of(kI32, {3}), i32s({1}), i32s({0})}),
            "i8[2x3]");
  EXPECT_EQ(infer_q("QAdd", {of(kI8, {2, 5}), of(kI8, {2, 5})},
                    {{"multiplier_a", int64_t{4}}, {"multiplier_b", int64_t{-4}}, {"shift", int64_t{3}}}),
            "i8[2x5]");
  EXPECT_EQ(infer_q("QMul", {of(kI8, {2, 5, 4, 4}), of(kI8, {2, 5, 1, 1})},
                    {{"b_zero_point", int64_t{-128}}, {"multiplier", int64_t{4}}, {"shift", int64_t{3}}}),
            "i8[2x5x4x4]");
  EXPECT_EQ(infer_q("QAveragePool", {of(kI8, {1, 4, 8, 8})},
                    {{"kernel_shape", Ints{2, 2}},
                     {"strides", Ints{2, 2}},
                     {"multiplier", int64_t{1}},
                     {"shift", int64_t{2}}}),
            "i8[1x4x4x4]");
  EXPECT_EQ(infer_q("QRequantize", {of(kI8, {3})}, {{"multiplier", int64_t{1}}, {"shift", int64_t{2}}}),
            "i8[3]");
}

TEST(QuantizedOperators, RejectIntegerForms) {
  const Given x = of(kI8, {2, 5}), w = of(kI8, {3, 5}), b = of(kI32, {3});
  EXPECT_EQ(infer_q("QGemm", {of(kU8, {2, 5}), w, b, i32s({1}), i32s({0})}),
            "node 'n' (QGemm): input 0 ('x0') has type u8, i8 is needed");
  EXPECT_EQ(infer_q("QGemm", {x, of(kI8, {3, 6}), b, i32s({1}), i32s({0})}),
            "node 'n' (QGemm): 2x5 times 3x6 (transposed): the inner sizes differ");
  EXPECT_EQ(infer_q("QGemm", {x, w, of(kI32, {4}), i32s({1}), i32s({0})}),
            "node 'n' (QGemm): input 2 ('x2') has shape 4, a list of 3 is needed");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, i32s({1, 0, 1}), i32s({0})}),
            "node 'n' (QGemm): input 3 ('x3'), the multiplier, holds 0, which is outside 1..2147483647");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, i32s({1}), i32s({63})}),
            "node 'n' (QGemm): input 4 ('x4'), the shift, holds 63, which is outside 0..62 and, to round "
            "twice, 96..126");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, of(kI32, {1}), i32s({6})}),
            "node 'n' (QGemm): input 3 ('x3'), the multiplier, is not constant");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, i32s({1}), i32s({6})}, {{"clip_high", int64_t{128}}}),
            "node 'n' (QGemm): attribute 'clip_high' is 128, which is outside -128..127");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, i32s({1}), i32s({6})},
                    {{"clip_high", int64_t{-3}}, {"clip_low", int64_t{3}}}),
            "node 'n' (QGemm): clip_low is 3, clip_high is -3");
  EXPECT_EQ(infer_q("QGemm", {x, w, b, i32s({1}), i32s({6})}, {{"bipolar", int64_t{1}}}),
            "node 'n' (QGemm): a bipolar output has the clip range 0..1, not -128..127");
  EXPECT_EQ(infer_q("QAdd", {x, of(kI8, {5})},
                    {{"multiplier_a", int64_t{4}}, {"multiplier_b", int64_t{4}}, {"shift", int64_t{3}}}),
            "node 'n' (QAdd): shapes 2x5 and 5 differ");
  EXPECT_EQ(
      infer_q("QAdd", {x, x},
              {{"multiplier_a", int64_t{1 << 23}}, {"multiplier_b", int64_t{4}}, {"shift", int64_t{3}}}),
      "node 'n' (QAdd): attribute 'multiplier_a' is 8388608, which is outside -8388607..8388607");
  EXPECT_EQ(infer_q("QMul", {x, x},
                    {{"a_zero_point", int64_t{128}}, {"multiplier", int64_t{4}}, {"shift", int64_t{3}}}),
            "node 'n' (QMul): attribute 'a_zero_point' is 128, which is outside -128..127");
  EXPECT_EQ(infer_q("QRequantize", {x}, {{"multiplier", int64_t{1}}}),
            "node 'n' (QRequantize): attribute 'shift' is missing");
  EXPECT_EQ(infer_q("QConv", {x, w, b, i32s({1}), i32s({0})}),
            "node 'n' (QConv): input 0 ('x0') has shape 2x5, 4 axes are needed");
}

TEST(QuantizedOperators, CausalSoftmax) {
  const Attributes causal = {{"numerator", int64_t{1}}, {"shift", int64_t{0}}, {"causal", int64_t{3}}};
  const auto softmax = [&](const Shape& x, const Attributes& attributes, const Given& position) {
    return infer_q("QSoftmax", {of(kI8, x), of(kI32, {256}), position}, attributes);
  };
  EXPECT_EQ(softmax({2, 6, 5}, causal, none()), "i8[2x6x5]");
  EXPECT_EQ(softmax({6, 5}, causal, of(kI64, {1})), "i8[6x5]");
  EXPECT_EQ(softmax({6, 5}, causal, ints({4})), "i8[6x5]");
  EXPECT_EQ(softmax({7, 5}, causal, none()),
            "node 'n' (QSoftmax): 7x5 has no multiple of 3 rows, its attribute 'causal'");
  EXPECT_EQ(softmax({6, 5}, causal, ints({5})),
            "node 'n' (QSoftmax): position 5 is outside rows of 5 columns");
  EXPECT_EQ(softmax({6, 5}, causal, of(kI32, {1})),
            "node 'n' (QSoftmax): input 2 ('x2') has type i32, i64 is needed");
  EXPECT_EQ(softmax({6, 5}, causal, of(kI64, {2})),
            "node 'n' (QSoftmax): input 2 ('x2') has shape 2, a single element is needed");
  EXPECT_EQ(softmax({6, 5}, {{"numerator", int64_t{1}}, {"shift", int64_t{0}}}, of(kI64, {1})),
            "node 'n' (QSoftmax): a softmax with a position needs the attribute 'causal'");
}

TEST(QuantizedOperators, Rotary) {
  const auto rotary = [&](const Shape& x, const Shape& table, Attributes attributes) {
    attributes.insert({{"multiplier", int64_t{1}}, {"shift", int64_t{0}}});
    return infer_q("QRotary", {of(kI8, x), of(kI8, table), of(kI8, table)}, attributes);
  };
  EXPECT_EQ(rotary({2, 3, 5, 6}, {5, 3}, {}), "i8[2x3x5x6]");
  EXPECT_EQ(rotary({5, 12}, {5, 3}, {{"heads", int64_t{2}}, {"output_bits", int64_t{16}}}), "i16[5x12]");
  const std::string misfit = "node 'n' (QRotary): ";
  EXPECT_EQ(rotary({5, 12}, {5, 3}, {}),
            misfit + "5x12 of 1 heads, 5x3 cosines and 5x3 sines do not fit each other");
  EXPECT_EQ(rotary({2, 5, 12}, {5, 3}, {{"heads", int64_t{2}}}),
            misfit + "2x5x12 of 2 heads, 5x3 cosines and 5x3 sines do not fit each other");
  EXPECT_EQ(rotary({4, 6}, {5, 3}, {}),
            misfit + "4x6 of 1 heads, 5x3 cosines and 5x3 sines do not fit each other");
  EXPECT_EQ(rotary({5, 6}, {5, 3}, {{"x_zero_point", int64_t{200}}}),
            misfit + "attribute 'x_zero_point' is 200, which is outside -128..127");
  EXPECT_EQ(rotary({5, 6}, {5, 3}, {{"shift", int64_t{70}}}),
            misfit + "attribute 'shift' is 70, which is outside 0..62 and, to round twice, 96..126");
  EXPECT_EQ(infer_q("QRotary", {of(kI16, {5, 6}), of(kI8, {5, 3}), of(kI8, {5, 3})},
                    {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}}),
            misfit + "input 0 ('x0') has type i16, i8 is needed");
}

}  // namespace
}  // namespace tilewright::testing
