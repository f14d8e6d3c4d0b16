// Nodes that their converters refuse, one per message. Results are compared in tests/model/models_tensorflow.
#include <gtest/gtest.h>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;

// Images "x" [1,5,5,2], rows "m" [2,3], weights "w" [3,3,2,4], a vector "v" [2], a scalar "s", lists of
// integers.
std::string conversion_error(const std::string& op, const std::vector<std::string>& inputs,
                             const std::string& attributes = "") {
  GraphDefText text;
  text.placeholder("x", {1, 5, 5, 2})
      .placeholder("m", {2, 3})
      .floats("w", {3, 3, 2, 4}, std::vector<float>(72));
  text.floats("odd", {3, 3, 3, 4}, std::vector<float>(108)).floats("v", {2}, {1, 2}).floats("s", {}, {1});
  text.placeholder("far", {1}, kInt32).ints("i0", {}, {0}).ints("i1", {1}, {1}).ints("i2", {2}, {0, 0});
  text.ints("one_two", {2}, {1, 2}).ints("nine", {}, {9}).ints("back", {2}, {-1, -1}).ints("none", {0}, {});
  text.ints("i4", {4}, {1, 9, 9, 2}).ints("i8", {2, 2}, {0, 0, 0, -1}).boolean("p", true);
  text.floats("flags_source", {2}, {1, 0}).node("flags", "Greater", {"flags_source", "s"});
  text.node("y", op, inputs, attributes);
  TensorflowOptions options;
  options.outputs = {"y"};
  options.dimensions = {{"m.0", 2}};
  try {
    parse_tensorflow(text.build(), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string same(const std::string& more = "") {
  return string_attribute("padding", "SAME") + ints_attribute("strides", {1, 1, 1, 1}) + more;
}

struct Refused {
  std::string op;
  std::vector<std::string> inputs;
  std::string attributes, message;
};

TEST(TensorflowConverters, RefuseWindowsThatDoNotFit) {
  const std::vector<Refused> all = {
      {"Conv2D",
       {"x", "w"},
       same(string_attribute("data_format", "CHWN")),
       "data format 'CHWN'; NHWC and NCHW"},
      {"Conv2D",
       {"x", "w"},
       string_attribute("padding", "SAME") + ints_attribute("strides", {1, 1, 1}),
       "attribute 'strides' needs four sizes of 1 or more"},
      {"Conv2D",
       {"x", "w"},
       string_attribute("padding", "SAME") + ints_attribute("strides", {1, 0, 1, 1}),
       "attribute 'strides' needs four sizes of 1 or more"},
      {"Conv2D",
       {"x", "w"},
       string_attribute("padding", "SAME") + ints_attribute("strides", {1, 1, 1, 2}),
       "attribute 'strides' is not 1 along batch and channels"},
      {"Conv2D", {"x", "w"}, string_attribute("padding", "FULL"), "padding 'FULL'; SAME, VALID and EXPLICIT"},
      {"Conv2D",
       {"x", "w"},
       string_attribute("padding", "EXPLICIT") + ints_attribute("explicit_paddings", {1, 1}),
       "attribute 'explicit_paddings' needs eight sizes"},
      {"Conv2D", {"x", "w"}, int_attribute("padding", 1), "attribute 'padding' has the wrong type"},
      {"Conv2D", {"x", "v"}, same(), "needs weights of 4 axes, this one has 1"},
      {"Conv2D", {"m", "w"}, same(), "needs an input of 4 axes, this one has 2"},
      {"Conv2D", {"x", "odd"}, same(), "2 channels do not fit weights for 3"},
      {"Conv2D", {"x"}, same(), "has 1 inputs, input 1 is missing"},
      {"DepthwiseConv2dNative", {"x", "v"}, same(), "needs weights of 4 axes, this one has 1"},
      {"Conv2DBackpropInput", {"i2", "w", "x"}, same(), "needs four output sizes"},
      {"Conv2DBackpropInput", {"i4", "w", "x"}, same(), "5 inputs do not give 9 outputs"},
      {"Conv2DBackpropInput",
       {"far", "w", "x"},
       same(),
       "its output sizes are not known before the network runs; make them constants"},
      {"MaxPool",
       {"m"},
       same(ints_attribute("ksize", {1, 2, 2, 1})),
       "needs an input of four axes, this one has 2"},
      {"BiasAdd", {"x", "w"}, "", "needs a bias of 1 axes, this one has 4"},
      {"MatMul", {"m", "v"}, bool_attribute("transpose_b", true), "needs matrices"},
      {"ResizeBilinear", {"x", "i1"}, "", "needs two sizes of 1 or more"},
      {"DepthToSpace", {"x"}, int_attribute("block_size", 2), "DepthToSpace"}};
  for (const Refused& refused : all) {
    const std::string message = conversion_error(refused.op, refused.inputs, refused.attributes);
    EXPECT_NE(message.find("node 'y' (" + refused.op + "): "), std::string::npos) << message;
    EXPECT_NE(message.find(refused.message), std::string::npos) << refused.message << "\n" << message;
  }
}

TEST(TensorflowConverters, RefuseOtherNodesThatDoNotFit) {
  const std::vector<Refused> all = {
      {"FusedBatchNorm",
       {"x", "v", "v", "v", "v"},
       "",
       "normalises by the batch that it sees (is_training); export the model for inference"},
      {"FusedBatchNormV3",
       {"x", "v", "s", "v", "v"},
       bool_attribute("is_training", false),
       "a parameter of shape scalar does not fit 2 channels"},
      {"LRN", {"x"}, int_attribute("depth_radius", -1), "attribute 'depth_radius' is out of range"},
      {"Cast", {"x"}, type_attribute("DstT", kString), "casts to DT_STRING"},
      {"Select", {"flags", "m", "m"}, "", "selects rows; use SelectV2"},
      {"ExpandDims", {"x", "i2"}, "", "needs one axis"},
      {"ExpandDims", {"x", "nine"}, "", "axis 9"},
      {"Transpose", {"m", "back"}, "", "the order of axes is not a permutation"},
      {"Transpose", {"m", "i1"}, "", "the order of axes is not a permutation"},
      {"Transpose", {"m", "i2"}, "", "the order of axes is not a permutation"},
      {"ConcatV2", {"i0"}, "", "has nothing to join"},
      {"Gather", {"m", "i0"}, int_attribute("batch_dims", 1), "gathers per batch"},
      {"Pad", {"m", "i1"}, "", "needs paddings for 2 axes"},
      {"Pad", {"m", "i8"}, "", "a padding is negative"},
      {"MirrorPad", {"m", "i8"}, string_attribute("mode", "SYMMETRIC"), "repeats the border; mode REFLECT"},
      {"Slice", {"m", "i1", "i2"}, "", "needs a position and a size for every axis"},
      {"Slice", {"m", "one_two", "one_two"}, "", "leaves axis 1"},
      {"Slice", {"m", "back", "i2"}, "", "leaves axis 0"},
      {"StridedSlice", {"m", "i1", "i2", "i2"}, "", "its positions and strides differ in number"},
      {"StridedSlice", {"m", "i4", "i4", "i4"}, "", "describes 4 axes of 2"},
      {"StridedSlice",
       {"m", "nine", "nine", "nine"},
       int_attribute("shrink_axis_mask", 1),
       "takes element 9 of 2"},
      {"StridedSlice", {"m", "i1", "i1", "none"}, "", "its positions and strides differ in number"},
      {"StridedSlice", {"m", "i2", "one_two", "i2"}, "", "a stride is 0"},
      {"Split", {"i0", "m"}, int_attribute("num_split", 0), "needs one axis and 1 to 4096 parts"},
      {"Split", {"i1", "m"}, int_attribute("num_split", 2), "3 elements do not split into 2 parts"},
      {"Split", {"i2", "m"}, int_attribute("num_split", 1), "needs one axis"},
      {"SplitV", {"m", "nine", "i0"}, "", "a part's size is out of range"},
      {"SplitV", {"m", "one_two", "i2"}, "", "needs one axis"},
      {"ArgMax", {"m", "i2"}, "", "needs one axis"},
      {"Unpack", {"none"}, "", "has no outputs"},
      {"Mean", {"m", "far"}, "", "its axes are not known before the network runs"},
      {"Mean", {"m", "nine"}, "", "axis 9"},
      {"Reshape", {"m", "far"}, "", "its sizes are not known before the network runs"},
      {"Add", {"m", "flags_source"}, "", "node 'y' (Add)"}};
  for (const Refused& refused : all) {
    const std::string message = conversion_error(refused.op, refused.inputs, refused.attributes);
    EXPECT_NE(message.find("node 'y' (" + refused.op + "): "), std::string::npos) << message;
    EXPECT_NE(message.find(refused.message), std::string::npos) << refused.message << "\n" << message;
  }
}

TEST(TensorflowConverters, LongListsOfPartsAreRefused) {
  GraphDefText text;
  text.placeholder("x", {5000}).node("y", "Unpack", {"x"});
  try {
    parse_tensorflow(text.build());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'y' (Unpack): takes more than 4096 parts");
  }
}

}  // namespace
}  // namespace tilewright
