#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

TEST(MatmulOperators, Shapes) {
  EXPECT_EQ(infer("Gemm", {f32({2, 3}), f32({3, 4}), f32({4})}), "f32[2x4]");
  EXPECT_EQ(infer("Gemm", {f32({3, 2}), f32({4, 3}), f32({2, 1})},
                  {{"transA", int64_t{1}}, {"transB", int64_t{1}}}),
            "f32[2x4]");
  EXPECT_EQ(infer("MatMul", {f32({5, 1, 2, 3}), f32({7, 3, 4})}), "f32[5x7x2x4]");
  EXPECT_EQ(infer("MatMul", {f32({3}), f32({3, 4})}), "f32[4]");
  EXPECT_EQ(infer("MatMul", {f32({2, 3}), f32({3})}), "f32[2]");
  EXPECT_EQ(infer("MatMul", {f32({3}), f32({3})}), "f32[scalar]");
  EXPECT_EQ(infer("MatMulInteger", {of(kU8, {4, 3}), of(kI8, {3, 2}), of(kU8, {}), of(kI8, {2})}),
            "i32[4x2]");
  EXPECT_EQ(infer("QLinearMatMul", {of(kU8, {2, 4}), f32({}), of(kU8, {}), of(kI8, {4, 3}), f32({3}),
                                    of(kI8, {3}), f32({}), of(kI8, {})}),
            "i8[2x3]");
}

TEST(MatmulOperators, Reject) {
  EXPECT_EQ(infer("Gemm", {f32({2, 3}), f32({4, 3})}),
            "node 'n' (Gemm): 2x3 times 4x3: the inner sizes differ");
  EXPECT_EQ(infer("Gemm", {f32({2, 3}), f32({3, 4})}, {{"transB", int64_t{1}}}),
            "node 'n' (Gemm): 2x3 times 3x4 (transposed): the inner sizes differ");
  EXPECT_EQ(infer("Gemm", {f32({1, 2, 3}), f32({3, 4})}),
            "node 'n' (Gemm): input 0 ('x0') has shape 1x2x3, 2 axes are needed");
  EXPECT_EQ(infer("Gemm", {f32({2, 3}), f32({3, 4}), f32({3})}),
            "node 'n' (Gemm): shapes 2x4 and 3 do not broadcast");
  EXPECT_EQ(infer("MatMul", {f32({2, 3}), f32({2, 3})}),
            "node 'n' (MatMul): 2x3 times 2x3: the inner sizes differ");
  EXPECT_EQ(infer("MatMul", {f32({}), f32({2, 3})}), "node 'n' (MatMul): a scalar is not a matrix");
  EXPECT_EQ(infer("MatMul", {f32({5, 2, 3}), f32({4, 3, 2})}),
            "node 'n' (MatMul): shapes 5 and 4 do not broadcast");
  EXPECT_EQ(infer("MatMulInteger", {of(kU8, {4, 3}), of(kI8, {3, 2}), of(kI8, {})}),
            "node 'n' (MatMulInteger): input 0 ('x0') has type u8, input 2 ('x2') has type i8; both need the "
            "same type");
}

}  // namespace
}  // namespace tilewright::testing
