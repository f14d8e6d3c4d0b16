#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

TEST(ShapeOperators, ReshapeFamily) {
  EXPECT_EQ(infer("Reshape", {f32({2, 3, 4}), ints({0, -1})}), "f32[2x12]");
  EXPECT_EQ(infer("Reshape", {f32({2, 0, 4}), ints({4, 0})}, {{"allowzero", int64_t{1}}}), "f32[4x0]");
  EXPECT_EQ(infer("Reshape", {f32({1}), ints({})}), "f32[scalar]");
  EXPECT_EQ(infer("Flatten", {f32({2, 3, 4})}), "f32[2x12]");
  EXPECT_EQ(infer("Flatten", {f32({2, 3, 4})}, {{"axis", int64_t{3}}}), "f32[24x1]");
  EXPECT_EQ(infer("Flatten", {f32({2, 3, 4})}, {{"axis", int64_t{-1}}}), "f32[6x4]");
  EXPECT_EQ(infer("Transpose", {f32({2, 3, 4})}), "f32[4x3x2]");
  EXPECT_EQ(infer("Transpose", {f32({2, 3, 4})}, {{"perm", Ints{1, 0, 2}}}), "f32[3x2x4]");
  EXPECT_EQ(infer("Squeeze", {f32({1, 3, 1})}), "f32[3]");
  EXPECT_EQ(infer("Squeeze", {f32({1, 3, 1}), ints({-1})}), "f32[1x3]");
  EXPECT_EQ(infer("Unsqueeze", {f32({3, 4}), ints({0, -1})}), "f32[1x3x4x1]");
  EXPECT_EQ(infer("Unsqueeze", {f32({0, 4}), ints({1})}), "f32[0x1x4]");
  EXPECT_EQ(infer("Shape", {f32({3, 4, 5})}), "i64[3]");
  EXPECT_EQ(infer("Shape", {f32({3, 4, 5})}, {{"start", int64_t{-2}}, {"end", int64_t{9}}}), "i64[2]");
  EXPECT_EQ(infer("Size", {f32({3, 4, 5})}), "i64[scalar]");
}

TEST(ShapeOperators, Growing) {
  EXPECT_EQ(infer("Expand", {f32({3, 1}), ints({2, 1, 6})}), "f32[2x3x6]");
  EXPECT_EQ(infer("Tile", {f32({3, 2}), ints({2, 0})}), "f32[6x0]");
  EXPECT_EQ(infer("Pad", {f32({3, 4}), ints({0, 1, 2, -1})}), "f32[5x4]");
  EXPECT_EQ(infer("Pad", {f32({3, 4}), ints({2, 0, 0, 3})}, {{"mode", std::string("reflect")}}), "f32[5x7]");
  EXPECT_EQ(
      infer("DepthToSpace", {f32({1, 8, 2, 3})}, {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}),
      "f32[1x2x4x6]");
  EXPECT_EQ(infer("SpaceToDepth", {f32({1, 2, 4, 6})}, {{"blocksize", int64_t{2}}}), "f32[1x8x2x3]");
  EXPECT_EQ(infer("Resize", {f32({1, 2, 4, 5}), none(), floats({1, 1, 2, 0.7f})}), "f32[1x2x8x3]");
  EXPECT_EQ(infer("Resize", {f32({1, 10}), none(), floats({1, 0.7f})}), "f32[1x7]");  // as float32 gives
  EXPECT_EQ(infer("Resize", {f32({1, 2, 4, 4}), floats({}), floats({}), ints({1, 2, 7, 9})}), "f32[1x2x7x9]");
  EXPECT_EQ(infer("Resize", {f32({4, 4}), floats({0, 0.25f, 1, 0.75f}), floats({2, 2})},
                  {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
            "f32[8x4]");
}

TEST(ShapeOperators, RejectReshapes) {
  EXPECT_EQ(infer("Reshape", {f32({2, 3}), ints({4, -1})}),
            "node 'n' (Reshape): 6 elements of shape 2x3 do not fit shape 4x-1");
  EXPECT_EQ(infer("Reshape", {f32({2, 3}), ints({-1, -1})}),
            "node 'n' (Reshape): shape -1x-1; at most one size may be -1");
  EXPECT_EQ(infer("Reshape", {f32({2, 3}), ints({6, 1, 0})}),
            "node 'n' (Reshape): shape 6x1x0 copies axis 2, the input has shape 2x3");
  EXPECT_EQ(infer("Reshape", {f32({2, 3}), of(kI64, {2})}),
            "unsupported: node 'n' (Reshape): input 1 ('x1') is not constant: the shape depends on the data; "
            "shapes must "
            "follow from the shapes of the graph inputs");
  EXPECT_EQ(infer("Reshape", {f32({2, 3}), floats({6})}),
            "node 'n' (Reshape): input 1 ('x1') has type f32, i32 or i64 is needed");
  EXPECT_EQ(infer("Flatten", {f32({2, 3})}, {{"axis", int64_t{3}}}),
            "node 'n' (Flatten): axis 3 is outside -2..1");
  EXPECT_EQ(infer("Transpose", {f32({2, 3})}, {{"perm", Ints{0}}}),
            "node 'n' (Transpose): attribute 'perm' lists 1 axes, the input has 2");
  EXPECT_EQ(infer("Squeeze", {f32({2, 3}), ints({0})}), "node 'n' (Squeeze): axis 0 of 2x3 is not 1");
  EXPECT_EQ(infer("Unsqueeze", {f32({2}), ints({3})}), "node 'n' (Unsqueeze): axis 3 is outside -2..1");
}

TEST(ShapeOperators, RejectGrowing) {
  EXPECT_EQ(infer("Expand", {f32({3}), ints({-1})}), "node 'n' (Expand): shape -1 has a negative size");
  EXPECT_EQ(infer("Expand", {f32({3}), ints({4})}), "node 'n' (Expand): shapes 3 and 4 do not broadcast");
  EXPECT_EQ(infer("Tile", {f32({3}), ints({2, 2})}), "node 'n' (Tile): 2 repeats for 1 axes");
  EXPECT_EQ(infer("Tile", {f32({3}), ints({INT64_MAX})}),
            "node 'n' (Tile): output 'y0' has shape 9223372036854775807 with a size over 2^40");
  EXPECT_EQ(infer("Pad", {f32({3}), ints({1})}),
            "node 'n' (Pad): 1 pads for 1 axes; a begin and an end for each axis are needed");
  EXPECT_EQ(infer("Pad", {f32({3}), ints({3, 0})}, {{"mode", std::string("reflect")}}),
            "node 'n' (Pad): axis 0 of size 3 cannot be reflected by 3");
  EXPECT_EQ(infer("Pad", {f32({3}), ints({-2, -2})}),
            "node 'n' (Pad): axis 0 of size 3 cannot be padded by -2 + -2");
  EXPECT_EQ(infer("Pad", {f32({3}), ints({1, 1})}, {{"mode", std::string("wrap")}}),
            "unsupported: node 'n' (Pad): attribute 'mode' is 'wrap'; use constant, reflect or edge");
  EXPECT_EQ(infer("DepthToSpace", {f32({1, 6, 2, 3})}, {{"blocksize", int64_t{2}}}),
            "node 'n' (DepthToSpace): 6 channels do not divide into blocks of 2 x 2");
  EXPECT_EQ(infer("SpaceToDepth", {f32({1, 6, 2, 3})}, {{"blocksize", int64_t{2}}}),
            "node 'n' (SpaceToDepth): 1x6x2x3 does not divide into blocks of 2 x 2");
  EXPECT_EQ(infer("Resize", {f32({1, 4})}), "node 'n' (Resize): neither scales nor sizes are given");
  EXPECT_EQ(infer("Resize", {f32({1, 4}), none(), floats({1, 2}), ints({1, 8})}),
            "node 'n' (Resize): both scales and sizes are given");
  EXPECT_EQ(infer("Resize", {f32({1, 4}), none(), floats({1, -2})}), "node 'n' (Resize): a scale of -2");
  EXPECT_EQ(infer("Resize", {f32({1, 4}), none(), floats({1})}), "node 'n' (Resize): 1 scales for 2 axes");
  EXPECT_EQ(infer("Resize", {f32({1, 4}), none(), f32({2})}),
            "unsupported: node 'n' (Resize): the scales are not constant: the size of the output depends on "
            "the data; "
            "shapes must follow from the shapes of the graph inputs");
  EXPECT_EQ(infer("Resize", {f32({1, 4}), none(), floats({1, 2})}, {{"mode", std::string("area")}}),
            "unsupported: node 'n' (Resize): attribute 'mode' is 'area'; use one of nearest, linear, cubic");
}

TEST(IndexingOperators, Shapes) {
  EXPECT_EQ(infer("Concat", {f32({1, 2, 3}), f32({1, 5, 3})}, {{"axis", int64_t{-2}}}), "f32[1x7x3]");
  EXPECT_EQ(infer("Split", {f32({6, 2})}, {}, 3), "f32[2x2] f32[2x2] f32[2x2]");
  EXPECT_EQ(infer("Split", {f32({2, 6}), ints({1, 5})}, {{"axis", int64_t{1}}}, 2), "f32[2x1] f32[2x5]");
  EXPECT_EQ(infer("Slice",
                  {f32({10, 5}), ints({-3, 4}), ints({INT64_MAX, INT64_MIN}), ints({0, 1}), ints({2, -1})}),
            "f32[2x5]");
  EXPECT_EQ(infer("Slice", {f32({10, 5}), ints({8}), ints({3})}), "f32[0x5]");
  EXPECT_EQ(infer("Gather", {f32({4, 5, 6}), of(kI64, {2, 3})}, {{"axis", int64_t{1}}}), "f32[4x2x3x6]");
  EXPECT_EQ(infer("Gather", {f32({4}), constant(Tensor::scalar<int64_t>(-4))}), "f32[scalar]");
  EXPECT_EQ(infer("OneHot", {of(kI64, {2, 3}), ints({7}), f32({2})}, {{"axis", int64_t{1}}}), "f32[2x7x3]");
}

TEST(IndexingOperators, Reject) {
  EXPECT_EQ(infer("Concat", {f32({1, 2}), f32({2, 2})}, {{"axis", int64_t{1}}}),
            "node 'n' (Concat): input 1 ('x1') of shape 2x2 does not join input 0 ('x0') of shape 1x2 along "
            "axis 1");
  EXPECT_EQ(infer("Concat", {f32({}), f32({})}, {{"axis", int64_t{0}}}),
            "node 'n' (Concat): a scalar has no axis 0");
  EXPECT_EQ(
      infer("Split", {f32({7})}, {}, 2),
      "node 'n' (Split): axis 0 of size 7 does not divide into 2 outputs; give the sizes as second input");
  EXPECT_EQ(infer("Split", {f32({7}), ints({3, 3})}, {}, 2),
            "node 'n' (Split): sizes 3 + 3 do not add up to 7, the size of axis 0");
  EXPECT_EQ(infer("Split", {f32({7}), ints({7})}, {}, 2), "node 'n' (Split): 1 sizes for 2 outputs");
  EXPECT_EQ(infer("Slice", {f32({7}), ints({0}), ints({3}), ints({0}), ints({0})}),
            "node 'n' (Slice): a step is 0");
  EXPECT_EQ(infer("Slice", {f32({7}), ints({0}), ints({3, 4})}),
            "node 'n' (Slice): 1 starts, 2 ends, 0 axes and 0 steps");
  EXPECT_EQ(infer("Slice", {f32({7}), ints({0}), ints({3}), ints({1})}),
            "node 'n' (Slice): axis 1 is outside -1..0");
  EXPECT_EQ(infer("Slice", {f32({7}), ints({0, 0}), ints({3, 3})}), "node 'n' (Slice): 2 starts for 1 axes");
  EXPECT_EQ(infer("Slice", {f32({7}), ints({0, 0}), ints({3, 3}), ints({0, -1})}),
            "node 'n' (Slice): axis 0 is listed twice");
  EXPECT_EQ(infer("Gather", {f32({4}), ints({4})}), "node 'n' (Gather): index 4 is outside axis 0 of size 4");
  EXPECT_EQ(infer("OneHot", {of(kI64, {2}), ints({0}), f32({2})}), "node 'n' (OneHot): a depth of 0");
}

TEST(ConstantOperators, ShapesAndRejects) {
  EXPECT_EQ(infer("Constant", {}, {{"value", Tensor(ElementType::kI8, {2, 3})}}), "i8[2x3]");
  EXPECT_EQ(infer("Constant", {}, {{"value_float", 1.0f}}), "f32[scalar]");
  EXPECT_EQ(infer("Constant", {}, {{"value_ints", Ints{1, 2}}}), "i64[2]");
  EXPECT_EQ(infer("ConstantOfShape", {ints({2, 3})}), "f32[2x3]");
  EXPECT_EQ(infer("ConstantOfShape", {ints({})}, {{"value", Tensor::of<int64_t>({1}, {7})}}), "i64[scalar]");
  EXPECT_EQ(infer("Range", {ints({1}), ints({10}), ints({4})}), "i64[3]");
  EXPECT_EQ(infer("Range", {floats({1}), floats({0}), floats({-0.25f})}), "f32[4]");
  EXPECT_EQ(infer("Constant", {}),
            "node 'n' (Constant): 0 attributes; exactly one attribute must hold the value");
  EXPECT_EQ(infer("ConstantOfShape", {ints({-2})}),
            "node 'n' (ConstantOfShape): shape -2 has a negative size");
  EXPECT_EQ(infer("ConstantOfShape", {ints({2})}, {{"value", Tensor(kI64, {2})}}),
            "node 'n' (ConstantOfShape): attribute 'value' has 2 elements; one is needed");
  EXPECT_EQ(infer("Range", {ints({1}), ints({10}), ints({0})}),
            "node 'n' (Range): the steps do not lead from start to limit; delta must be finite and not 0");
}

}  // namespace
}  // namespace tilewright::testing
