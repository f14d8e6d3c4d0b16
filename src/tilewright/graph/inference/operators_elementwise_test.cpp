#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

TEST(ElementwiseOperators, KeepTypeAndShape) {
  for (const char* op : {"Abs",       "Ceil",     "Cos",         "Elu",        "Erf",
                         "Exp",       "Floor",    "HardSigmoid", "HardSwish",  "Identity",
                         "LeakyRelu", "Log",      "Neg",         "Reciprocal", "Relu",
                         "Round",     "Selu",     "Sigmoid",     "Sign",       "Sin",
                         "Softplus",  "Softsign", "Sqrt",        "Tanh",       "ThresholdedRelu"}) {
    EXPECT_EQ(infer(op, {f32({2, 0, 3})}), "f32[2x0x3]") << op;
  }
  EXPECT_EQ(infer("Relu", {of(kI8, {4})}), "i8[4]");
  EXPECT_EQ(infer("Not", {of(kBool, {})}), "bool[scalar]");
}

TEST(ElementwiseOperators, BroadcastPairs) {
  for (const char* op : {"Add", "Div", "Mul", "Sub", "Pow"}) {
    EXPECT_EQ(infer(op, {f32({2, 1, 3}), f32({5, 1})}), "f32[2x5x3]") << op;
  }
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    EXPECT_EQ(infer(op, {f32({2, 1}), f32({})}), "bool[2x1]") << op;
  }
  for (const char* op : {"And", "Or", "Xor"}) {
    EXPECT_EQ(infer(op, {of(kBool, {3}), of(kBool, {2, 1})}), "bool[2x3]") << op;
  }
  EXPECT_EQ(infer("Pow", {f32({3}), of(kI64, {})}), "f32[3]");
  EXPECT_EQ(infer("Mod", {of(kI64, {3}), of(kI64, {3})}), "i64[3]");
  EXPECT_EQ(infer("PRelu", {f32({1, 4, 5, 5}), f32({4, 1, 1})}), "f32[1x4x5x5]");
  EXPECT_EQ(infer("Where", {of(kBool, {2, 1}), of(kI64, {3}), of(kI64, {})}), "i64[2x3]");
}

TEST(ElementwiseOperators, BroadcastLists) {
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    EXPECT_EQ(infer(op, {f32({2, 1}), f32({3}), f32({1})}), "f32[2x3]") << op;
    EXPECT_EQ(infer(op, {f32({2, 1})}), "f32[2x1]") << op;
  }
}

TEST(ElementwiseOperators, ClipCastDropout) {
  EXPECT_EQ(infer("Clip", {f32({4})}), "f32[4]");
  EXPECT_EQ(infer("Clip", {f32({4}), none(), floats({6})}), "f32[4]");
  EXPECT_EQ(infer("Cast", {f32({4})}, {{"to", int64_t{7}}}), "i64[4]");
  EXPECT_EQ(infer("Cast", {f32({4})}, {{"to", int64_t{22}}}), "i4[4]");
  EXPECT_EQ(infer("Dropout", {f32({4}), floats({0.5f})}, {}, 2), "f32[4] bool[4]");
}

TEST(ElementwiseOperators, Reject) {
  EXPECT_EQ(infer("Exp", {of(kI64, {2})}),
            "node 'n' (Exp): input 0 ('x0') has type i64, a floating-point type is needed");
  EXPECT_EQ(infer("Not", {f32({2})}), "node 'n' (Not): input 0 ('x0') has type f32, bool is needed");
  EXPECT_EQ(infer("Relu", {of(kBool, {2})}),
            "node 'n' (Relu): input 0 ('x0') has type bool, a number type is needed");
  EXPECT_EQ(
      infer("Add", {f32({2}), of(kI64, {2})}),
      "node 'n' (Add): input 0 ('x0') has type f32, input 1 ('x1') has type i64; both need the same type");
  EXPECT_EQ(infer("Add", {f32({2, 3}), f32({2})}), "node 'n' (Add): shapes 2x3 and 2 do not broadcast");
  EXPECT_EQ(infer("Sum", {f32({2}), none()}), "node 'n' (Sum): input 1 is missing");
  EXPECT_EQ(infer("Mod", {f32({2}), f32({2})}),
            "node 'n' (Mod): attribute 'fmod' is 0 for a floating-point input; set fmod to 1");
  EXPECT_EQ(infer("PRelu", {f32({2, 3}), f32({4, 2, 3})}),
            "node 'n' (PRelu): input 1 ('x1') of shape 4x2x3 does not broadcast to 2x3");
  EXPECT_EQ(infer("Clip", {f32({2}), f32({2})}),
            "node 'n' (Clip): input 1 ('x1') has shape 2, a single element is needed");
  EXPECT_EQ(infer("Cast", {f32({2})}, {{"to", int64_t{8}}}),
            "unsupported: node 'n' (Cast): attribute 'to' is 8, which is not a supported element type; "
            "strings and complex numbers are not supported");
  EXPECT_EQ(infer("Where", {f32({2}), f32({2}), f32({2})}),
            "node 'n' (Where): input 0 ('x0') has type f32, bool is needed");
  EXPECT_EQ(infer("Dropout", {f32({2}), floats({0.5f}), constant(Tensor(kBool, {}))}), "f32[2]");
  Tensor on(kBool, {}), several(kBool, {2});
  on.set_integer(0, 1);
  for (const Tensor& training : {on, several}) {
    EXPECT_EQ(infer("Dropout", {f32({2}), floats({0.5f}), constant(training)}),
              "unsupported: node 'n' (Dropout): training mode is on or not constant; export the model for "
              "inference");
  }
  EXPECT_EQ(
      infer("Dropout", {f32({2}), floats({0.5f}), of(kBool, {})}),
      "unsupported: node 'n' (Dropout): training mode is on or not constant; export the model for inference");
}

}  // namespace
}  // namespace tilewright::testing
