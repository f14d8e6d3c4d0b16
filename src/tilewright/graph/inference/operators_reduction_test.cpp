#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

TEST(ReductionOperators, Shapes) {
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    EXPECT_EQ(infer(op, {f32({2, 3, 4})}, {{"axes", Ints{-1, 0}}}), "f32[1x3x1]") << op;
    EXPECT_EQ(infer(op, {f32({2, 3, 4})}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}), "f32[2x4]") << op;
    EXPECT_EQ(infer(op, {f32({2, 3, 4})}, {{"keepdims", int64_t{0}}}), "f32[scalar]") << op;
  }
  EXPECT_EQ(infer("ReduceSum", {f32({2, 3}), ints({1})}), "f32[2x1]");
  EXPECT_EQ(infer("ReduceSum", {f32({2, 3})}), "f32[1x1]");
  EXPECT_EQ(infer("ReduceSum", {f32({2, 3})}, {{"noop_with_empty_axes", int64_t{1}}}), "f32[2x3]");
  EXPECT_EQ(infer("ArgMax", {f32({2, 3})}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}), "i64[2]");
  EXPECT_EQ(infer("ArgMin", {f32({2, 3})}), "i64[1x3]");
  EXPECT_EQ(infer("TopK", {f32({2, 10}), ints({3})}, {}, 2), "f32[2x3] i64[2x3]");
}

TEST(ReductionOperators, Reject) {
  EXPECT_EQ(infer("ReduceMean", {f32({2, 3})}, {{"axes", Ints{2}}}),
            "node 'n' (ReduceMean): axis 2 is outside -2..1");
  EXPECT_EQ(infer("ReduceMean", {f32({2, 3})}, {{"axes", Ints{1, -1}}}),
            "node 'n' (ReduceMean): axis -1 is listed twice");
  EXPECT_EQ(infer("ReduceSum", {f32({2, 3}), of(ElementType::kI64, {1})}),
            "unsupported: node 'n' (ReduceSum): input 1 ('x1') is not constant: the list of axes depends on "
            "the data; "
            "shapes must follow from the shapes of the graph inputs");
  EXPECT_EQ(infer("TopK", {f32({2, 10}), ints({11})}, {}, 2),
            "node 'n' (TopK): 11 elements are wanted of axis 1 with size 10");
  EXPECT_EQ(infer("TopK", {f32({2, 10}), ints({1})}), "node 'n' (TopK): 1 outputs; 2 needed");
}

}  // namespace
}  // namespace tilewright::testing
