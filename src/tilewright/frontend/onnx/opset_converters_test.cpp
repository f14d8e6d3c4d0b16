// Each change of an operator between opsets 6 and 21: the node of the old or new form must become the one of
// opset 17, or be refused with a reason.
#include "tilewright/frontend/onnx/opset/opset_converters.h"

#include <gtest/gtest.h>

#include "support/frontend/model_builder_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

// One node "n" that reads "x" (and initializers) and writes "y".
struct OneNode {
  int opset;
  std::string op;
  std::string attributes = "";
  std::string dims = "2x3x4";
  std::vector<std::string> initializers = {};
  std::vector<std::string> inputs = {"x"};
  std::vector<std::string> outputs = {"y"};

  std::vector<std::byte> build() const {
    ModelText model;
    model.opset = opset;
    model.input("x", dims);
    for (const std::string& output : outputs) {
      if (!output.empty()) model.output(output);
    }
    for (const std::string& text : initializers) model.initializer(text);
    model.node("n", op, inputs, outputs, attributes);
    return model.build();
  }
  Graph read() const { return parse_onnx(build()); }
  std::string error() const {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

const Node& last(const Graph& graph) { return graph.nodes.back(); }
const Shape& output_shape(const Graph& graph) { return graph.value(graph.outputs[0]).shape; }
std::vector<float> input_values(const Graph& graph, int index) {
  const Tensor* tensor = graph.constant_input(last(graph), index);
  return tensor ? tensor->to_floats() : std::vector<float>{-999};
}
std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) result.push_back(node.op);
  return result;
}
const Value& graph_input(const Graph& graph, int index) { return graph.value(last(graph).input(index)); }
ElementType graph_type(const Graph& graph) { return graph.value(graph.outputs[0]).type; }
using Ops = std::vector<std::string>;
using Floats = std::vector<float>;

TEST(OpsetConverters, ClipBoundsBecomeInputs) {
  const Graph graph = OneNode{6, "Clip", float_attribute("min", -1) + float_attribute("max", 6)}.read();
  EXPECT_TRUE(last(graph).attributes.empty());
  EXPECT_EQ(input_values(graph, 1), Floats{-1});
  EXPECT_EQ(input_values(graph, 2), Floats{6});
  const Graph upper = OneNode{10, "Clip", float_attribute("max", 6)}.read();
  EXPECT_FALSE(last(upper).has_input(1));
  EXPECT_EQ(input_values(upper, 2), Floats{6});
}

TEST(OpsetConverters, PadTakesPadsFromInputsAndAxes) {
  const Graph old =
      OneNode{10, "Pad", ints_attribute("pads", {0, 0, 1, 0, 0, 2}) + float_attribute("value", 5)}.read();
  EXPECT_EQ(output_shape(old), (Shape{2, 3, 7}));
  EXPECT_EQ(input_values(old, 2), Floats{5});
  const Graph axes = OneNode{18,
                             "Pad",
                             "",
                             "2x3x4",
                             {int64s("pads", {1, 2, 0, 3}), int64s("axes", {-1, 0})},
                             {"x", "pads", "", "axes"}}
                         .read();
  EXPECT_EQ(input_values(axes, 1), (Floats{2, 0, 1, 3, 0, 0}));
  EXPECT_EQ(output_shape(axes), (Shape{7, 3, 5}));
  EXPECT_EQ(last(axes).inputs.size(), 2u);
  EXPECT_MENTIONS(
      (OneNode{19, "Pad", string_attribute("mode", "wrap"), "4", {int64s("p", {1, 1})}, {"x", "p"}}.error()),
      "node 'n' (Pad): pads by wrapping around");
  EXPECT_MENTIONS(
      (OneNode{18, "Pad", "", "4", {int64s("p", {1}), int64s("a", {0})}, {"x", "p", "", "a"}}.error()),
      "has 1 pads for 1 axes");
  EXPECT_MENTIONS(
      (OneNode{18, "Pad", "", "4", {int64s("p", {1, 1}), int64s("a", {1})}, {"x", "p", "", "a"}}.error()),
      "axis 1 is out of range for rank 1");
}

TEST(OpsetConverters, SliceSqueezeAndUnsqueezeTakeInputs) {
  const Graph slice =
      OneNode{9, "Slice",
              ints_attribute("starts", {1}) + ints_attribute("ends", {3}) + ints_attribute("axes", {2})}
          .read();
  EXPECT_EQ(output_shape(slice), (Shape{2, 3, 2}));
  EXPECT_TRUE(last(slice).attributes.empty());
  EXPECT_EQ(output_shape(OneNode{11, "Squeeze", ints_attribute("axes", {1}), "2x1x4"}.read()), (Shape{2, 4}));
  EXPECT_EQ(output_shape(OneNode{8, "Squeeze", "", "2x1x4"}.read()), (Shape{2, 4}));
  EXPECT_EQ(output_shape(OneNode{11, "Unsqueeze", ints_attribute("axes", {0, -1})}.read()),
            (Shape{1, 2, 3, 4, 1}));
}

TEST(OpsetConverters, ReductionsKeepTheirAxesAsAttribute) {
  const Graph graph = OneNode{18, "ReduceMax", "", "2x3x4", {int64s("axes", {1})}, {"x", "axes"}}.read();
  EXPECT_EQ(last(graph).inputs.size(), 1u);
  EXPECT_EQ(last(graph).ints_or("axes", {}), std::vector<int64_t>{1});
  EXPECT_EQ(output_shape(graph), (Shape{2, 1, 4}));
  EXPECT_EQ(output_shape(OneNode{18, "ReduceMean", int_attribute("keepdims", 0)}.read()), Shape{});
  EXPECT_EQ(ops(OneNode{18, "ReduceL2", int_attribute("noop_with_empty_axes", 1)}.read()), Ops{"Abs"});
  EXPECT_EQ(ops(OneNode{18, "ReduceMean", int_attribute("noop_with_empty_axes", 1)}.read()), Ops{"Identity"});
  const Graph sum =
      OneNode{11, "ReduceSum", ints_attribute("axes", {2}) + int_attribute("keepdims", 0)}.read();
  EXPECT_EQ(output_shape(sum), (Shape{2, 3}));
  EXPECT_EQ(input_values(sum, 1), Floats{2});
  EXPECT_MENTIONS((OneNode{18, "ReduceMax", "", "2", {}, {"x", "x"}}.error()),
                  "its input 'axes' is not a constant list of integers");
}

TEST(OpsetConverters, SplitSizes) {
  const std::vector<std::string> three = {"y", "b", "c"};
  const Graph old =
      OneNode{11,    "Split", int_attribute("axis", 2) + ints_attribute("split", {1, 1, 2}), "2x3x4", {},
              {"x"}, three}
          .read();
  EXPECT_EQ(input_values(old, 1), (Floats{1, 1, 2}));
  EXPECT_FALSE(last(old).has("split"));
  const Graph uneven = OneNode{18, "Split", int_attribute("num_outputs", 3), "7", {}, {"x"}, three}.read();
  EXPECT_EQ(input_values(uneven, 1), (Floats{3, 3, 1}));
  const Graph even = OneNode{18, "Split", int_attribute("num_outputs", 3), "6", {}, {"x"}, three}.read();
  EXPECT_FALSE(last(even).has_input(1));
  EXPECT_MENTIONS((OneNode{18, "Split", int_attribute("num_outputs", 2), "7", {}, {"x"}, three}.error()),
                  "num_outputs is 2, but it has 3 outputs");
}

TEST(OpsetConverters, UnreadSplitOutputsStillCount) {
  ModelText model;
  model.input("x", "6").output("a").node("n", "Split", {"x"}, {"a", "b"});
  EXPECT_EQ(output_shape(parse_onnx(model.build())), Shape{3});
}

TEST(OpsetConverters, SplitOutputsWithoutANameStillCount) {
  const Graph last_one =
      OneNode{11, "Split", int_attribute("axis", 1), "1x6", {}, {"x"}, {"a", "b", ""}}.read();
  EXPECT_EQ(output_shape(last_one), (Shape{1, 2}));
  EXPECT_EQ(last(last_one).outputs.size(), 3u);
  const Graph middle =
      OneNode{17, "Split", int_attribute("axis", 1), "1x6", {}, {"x"}, {"a", "", "c"}}.read();
  EXPECT_EQ(output_shape(middle), (Shape{1, 2}));
  const Graph newer =
      OneNode{18, "Split", int_attribute("num_outputs", 4), "7", {}, {"x"}, {"a", "", "", ""}}.read();
  EXPECT_EQ(output_shape(newer), Shape{2});
}

TEST(OpsetConverters, SoftmaxOfOldOpsetsCountsTheInputAsMatrix) {
  const Graph last_axis = OneNode{11, "Softmax", int_attribute("axis", 1), "2x10"}.read();
  EXPECT_EQ(ops(last_axis), Ops{"Softmax"});
  EXPECT_EQ(last(last_axis).int_or("axis", -9), 1);
  const Graph squeezed = OneNode{7, "Softmax", "", "1x10x1x1"}.read();  // SqueezeNet
  EXPECT_EQ(ops(squeezed), Ops{"Softmax"});
  EXPECT_EQ(last(squeezed).int_or("axis", -9), 1);
  const Graph shifted = OneNode{7, "LogSoftmax", int_attribute("axis", 1), "2x1x10"}.read();
  EXPECT_EQ(last(shifted).int_or("axis", -9), 2);
  const Graph matrix = OneNode{11, "Softmax", "", "2x3x4"}.read();
  EXPECT_EQ(ops(matrix), (Ops{"Flatten", "Softmax", "Reshape"}));
  EXPECT_EQ(output_shape(matrix), (Shape{2, 3, 4}));
  EXPECT_EQ(ops(OneNode{13, "Softmax", "", "2x3x4"}.read()), Ops{"Softmax"});
  EXPECT_MENTIONS((OneNode{11, "Softmax", int_attribute("axis", 4)}.error()),
                  "axis 4 is out of range for 2x3x4");
}

TEST(OpsetConverters, DropoutAndBatchNormalizationInTrainingAreRefused) {
  const Graph dropout = OneNode{10, "Dropout", float_attribute("ratio", 0.25f)}.read();
  EXPECT_EQ(input_values(dropout, 1), Floats{0.25f});
  EXPECT_MENTIONS((OneNode{6, "Dropout"}.error()), "is in training mode");
  EXPECT_MENTIONS((OneNode{9, "Dropout", "", "4", {}, {"x"}, {"y", "mask"}}.error()),
                  "the mask output of opset 9 is used");
  const std::vector<std::string> parameters = {floats("s", {3}, {1, 1, 1}), floats("b", {3}, {1, 1, 1}),
                                               floats("m", {3}, {1, 1, 1}), floats("v", {3}, {1, 1, 1})};
  const std::vector<std::string> inputs = {"x", "s", "b", "m", "v"};
  const Graph old =
      OneNode{7, "BatchNormalization", int_attribute("spatial", 1), "2x3x4", parameters, inputs}.read();
  EXPECT_FALSE(last(old).has("spatial"));
  EXPECT_MENTIONS(
      (OneNode{7, "BatchNormalization", int_attribute("spatial", 0), "2x3x4", parameters, inputs}.error()),
      "has spatial = 0");
  EXPECT_MENTIONS((OneNode{6, "BatchNormalization", "", "2x3x4", parameters, inputs}.error()),
                  "is in training mode");
  EXPECT_MENTIONS(
      (OneNode{15, "BatchNormalization", int_attribute("training_mode", 1), "2x3x4", parameters, inputs}
           .error()),
      "is in training mode; export the model for inference");
  EXPECT_MENTIONS((OneNode{9, "BatchNormalization", "", "2x3x4", parameters, inputs, {"y", "mean"}}.error()),
                  "is in training mode");
}

TEST(OpsetConverters, UpsampleAndOldResizeBecomeResize) {
  const Graph attribute = OneNode{7, "Upsample", floats_attribute("scales", {1, 1, 2, 2}), "1x1x3x3"}.read();
  EXPECT_EQ(last(attribute).op, "Resize");
  EXPECT_EQ(last(attribute).string_or("coordinate_transformation_mode", ""), "asymmetric");
  EXPECT_EQ(last(attribute).string_or("nearest_mode", ""), "floor");
  EXPECT_EQ(output_shape(attribute), (Shape{1, 1, 6, 6}));
  const std::vector<std::string> scales = {floats("s", {4}, {1, 1, 2, 2})};
  const Graph input =
      OneNode{9, "Upsample", string_attribute("mode", "linear"), "1x1x3x3", scales, {"x", "s"}}.read();
  EXPECT_EQ(last(input).string_or("mode", ""), "linear");
  EXPECT_EQ(output_shape(OneNode{10, "Resize", "", "1x1x3x3", scales, {"x", "s"}}.read()),
            (Shape{1, 1, 6, 6}));
  EXPECT_MENTIONS((OneNode{10, "Upsample", "", "1x1x3x3", scales, {"x", "s"}}.error()),
                  "does not exist in opset 10");
}

TEST(OpsetConverters, ResizeOfNewerOpsets) {
  const Graph axes =
      OneNode{
          18, "Resize", ints_attribute("axes", {3, 2}), "1x1x3x4", {floats("s", {2}, {2, 3})}, {"x", "", "s"}}
          .read();
  EXPECT_EQ(input_values(axes, 2), (Floats{1, 1, 3, 2}));
  EXPECT_EQ(output_shape(axes), (Shape{1, 1, 9, 8}));
  const Graph bounded = OneNode{
      18,
      "Resize",
      ints_attribute("axes", {2, 3}) + string_attribute("keep_aspect_ratio_policy", "not_larger"),
      "1x1x10x20",
      {int64s("s", {5, 5})},
      {"x", "", "", "s"}}.read();
  EXPECT_EQ(input_values(bounded, 3), (Floats{1, 1, 3, 5}));  // 10 * 0.25 rounds up
  const Graph empty = OneNode{
      11,
      "Resize",
      "",
      "1x1x3x3",
      {floats("roi", {0}, {}), floats("sc", {0}, {}), int64s("s", {1, 1, 6, 6})},
      {"x", "roi", "sc",
       "s"}}.read();
  EXPECT_FALSE(last(empty).has_input(2));
  EXPECT_EQ(output_shape(empty), (Shape{1, 1, 6, 6}));
  const std::vector<std::string> scales = {floats("s", {4}, {1, 1, 2, 2})};
  EXPECT_MENTIONS((OneNode{18, "Resize", ints_attribute("axes", {2}), "1x1x3x3"}.error()),
                  "node 'n' (Resize): its scales or sizes are not constant");
  EXPECT_MENTIONS(
      (OneNode{18, "Resize", int_attribute("antialias", 1), "1x1x3x3", scales, {"x", "", "s"}}.error()),
      "has antialias");
  EXPECT_MENTIONS((OneNode{11,
                           "Resize",
                           string_attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn") +
                               string_attribute("nearest_mode", "round_prefer_ceil"),
                           "1x1x3x3",
                           scales,
                           {"x", "", "s"}}
                       .error()),
                  "maps coordinates by 'tf_half_pixel_for_nn' and rounds by 'round_prefer_ceil'");
  const Graph nearest = OneNode{
      11,
      "Resize",
      string_attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn") +
          string_attribute("nearest_mode", "floor"),
      "1x1x3x3",
      scales,
      {"x", "", "s"}}.read();
  EXPECT_EQ(last(nearest).string_or("coordinate_transformation_mode", ""), "half_pixel");
  EXPECT_EQ(last(nearest).string_or("nearest_mode", ""), "round_prefer_ceil");
}

TEST(OpsetConverters, TopKAndCast) {
  const Graph top = OneNode{9, "TopK", int_attribute("k", 2), "5", {}, {"x"}, {"y", "i"}}.read();
  EXPECT_EQ(input_values(top, 1), Floats{2});
  EXPECT_EQ(output_shape(top), Shape{2});
  EXPECT_FALSE(last(OneNode{19, "Cast", int_attribute("to", 10) + int_attribute("saturate", 1)}.read())
                   .has("saturate"));
  EXPECT_MENTIONS((OneNode{19, "Cast", int_attribute("to", 17)}.error()), "casts to FLOAT8E4M3FN");
  EXPECT_MENTIONS((OneNode{13, "Cast", int_attribute("to", 8)}.error()), "casts to STRING");
}

TEST(OpsetConverters, PoolsAndQuantisersOfNewerOpsets) {
  const std::string kernel = ints_attribute("kernel_shape", {2});
  EXPECT_FALSE(
      last(OneNode{19, "AveragePool", kernel + ints_attribute("dilations", {1})}.read()).has("dilations"));
  EXPECT_MENTIONS((OneNode{19, "AveragePool", kernel + ints_attribute("dilations", {2})}.error()),
                  "has dilations");
  const std::vector<std::string> scale = {floats("s", {}, {0.5f})};
  const Graph typed =
      OneNode{21, "QuantizeLinear", int_attribute("output_dtype", 3), "4", scale, {"x", "s"}}.read();
  EXPECT_EQ(graph_type(typed), ElementType::kI8);
  EXPECT_MENTIONS(
      (OneNode{21, "QuantizeLinear", int_attribute("block_size", 2), "4", scale, {"x", "s"}}.error()),
      "is blocked (block_size)");
  EXPECT_MENTIONS(
      (OneNode{21, "QuantizeLinear", int_attribute("output_dtype", 17), "4", scale, {"x", "s"}}.error()),
      "quantises to FLOAT8E4M3FN");
}

TEST(OpsetConverters, BroadcastOfOpset6IsMadeExplicit) {
  const std::vector<std::string> channel = {floats("c", {3}, {1, 2, 3})};
  const Graph add = OneNode{6,       "Add",   int_attribute("broadcast", 1) + int_attribute("axis", 1),
                            "2x3x4", channel, {"x", "c"}}
                        .read();
  EXPECT_EQ(graph_input(add, 1).shape, (Shape{3, 1}));
  EXPECT_TRUE(last(add).attributes.empty());
  EXPECT_MENTIONS(
      (OneNode{
          6, "Add", int_attribute("broadcast", 1) + int_attribute("axis", 3), "2x3x4", channel, {"x", "c"}}
           .error()),
      "the old broadcast at axis 3 does not fit");
  EXPECT_EQ(graph_input(OneNode{6, "PRelu", "", "2x3x4", channel, {"x", "c"}}.read(), 1).shape,
            (Shape{3, 1}));
}

TEST(OpsetConverters, RewrittenOperators) {
  EXPECT_EQ(last(OneNode{20, "Gelu"}.read()).op, "Mul");
  EXPECT_EQ(last(OneNode{20, "Gelu", string_attribute("approximate", "tanh")}.read()).op, "Mul");
  EXPECT_MENTIONS((OneNode{20, "Gelu", string_attribute("approximate", "x")}.error()), "approximates by 'x'");
  EXPECT_EQ(ops(OneNode{18, "Mish"}.read()), (Ops{"Softplus", "Tanh", "Mul"}));
  EXPECT_EQ(output_shape(OneNode{13, "Hardmax", int_attribute("axis", 1)}.read()), (Shape{2, 3, 4}));
  EXPECT_EQ(
      output_shape(OneNode{
          18, "ReduceLogSumExp", int_attribute("keepdims", 0), "2x3x4", {int64s("a", {0, 2})}, {"x", "a"}}
                       .read()),
      Shape{3});
  const std::vector<std::string> groups = {floats("s", {2}, {1, 2}), floats("b", {2}, {0, 1})};
  EXPECT_EQ(output_shape(OneNode{
                18, "GroupNormalization", int_attribute("num_groups", 2), "1x4x3x3", groups, {"x", "s", "b"}}
                             .read()),
            (Shape{1, 4, 3, 3}));
  EXPECT_MENTIONS(
      (OneNode{18, "GroupNormalization", int_attribute("num_groups", 3), "1x4x3x3", groups, {"x", "s", "b"}}
           .error()),
      "needs channels that 3 groups divide");
}

TEST(OpsetConverters, GroupNormalizationNeedsANumberPerGroupOrChannel) {
  const auto error_of = [](int opset, int64_t scales, int64_t biases) {
    const std::vector<std::string> parameters = {floats("s", {scales}, Floats(size_t(scales))),
                                                 floats("b", {biases}, Floats(size_t(biases)))};
    return OneNode{opset,     "GroupNormalization", int_attribute("num_groups", 2),
                   "1x4x2x2", parameters,           {"x", "s", "b"}}
        .error();
  };
  EXPECT_EQ(error_of(18, 2, 2), "no error");
  EXPECT_EQ(error_of(21, 4, 4), "no error");
  EXPECT_MENTIONS(error_of(18, 4, 2), "has 4 numbers as scale; needs 2, one per group in opset 18");
  EXPECT_MENTIONS(error_of(18, 2, 4), "has 4 numbers as bias; needs 2, one per group");
  EXPECT_MENTIONS(error_of(21, 2, 4), "has 2 numbers as scale; needs 4, one per channel in opset 21");
}

// -2 and 2 lie beyond 1.5, not beyond the integer that it rounds to.
TEST(OpsetConverters, ShrinkComparesIntegersWithRealBounds) {
  ModelText model;
  model.input("x", "4", 6).output("y", "", 6);
  model.node("n", "Shrink", {"x"}, {"y"}, float_attribute("lambd", 1.5f));
  const Graph graph = parse_onnx(model.build());
  EXPECT_EQ(ops(graph), (Ops{"Cast", "Less", "Greater", "Add", "Where", "Sub", "Where", "Cast"}));
  EXPECT_EQ(graph_type(graph), ElementType::kI32);
  EXPECT_EQ(graph.constant_input(graph.nodes[1], 1)->number_at(0), -1.5);
  EXPECT_EQ(graph.constant_input(graph.nodes[2], 1)->number_at(0), 1.5);
  EXPECT_EQ(ops(OneNode{9, "Shrink"}.read()), (Ops{"Less", "Greater", "Add", "Where", "Sub", "Where"}));
}

TEST(OpsetConverters, AttributesOfTheWrongTypeAreReported) {
  EXPECT_MENTIONS((OneNode{11, "Softmax", string_attribute("axis", "one")}.error()),
                  "node 'n' (Softmax): attribute 'axis' is not an integer");
}

}  // namespace
}  // namespace tilewright
