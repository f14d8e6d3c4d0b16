#include "tilewright/layers/fused_layer.h"

#include <gtest/gtest.h>

#include <map>

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

Tensor numbers(ElementType type, Shape shape, const Ints& values) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, values[size_t(i) % values.size()]);
  return tensor;
}

// A graph of one node 'n' that reads x.
struct OneNode {
  Graph graph;
  ValueId x = kNoValue;

  OneNode(ElementType type, const Shape& shape) : x(graph.add_input("x", type, shape)) {}
  ValueId constant(ElementType type, const Shape& shape, const Ints& values) {
    return graph.add_constant("c", numbers(type, shape, values));
  }
  Node& add(const std::string& op, std::vector<ValueId> others, Attributes attributes = {},
            ElementType type = ElementType::kI8) {
    others.insert(others.begin(), x);
    const bool own = op.starts_with("Q") || op.starts_with("Fixed");
    const ValueId y = graph.add_value("y", type, graph.value(x).shape);
    Node& node = graph.add_node("n", op, std::move(others), {y}, own ? kTilewrightDomain : "");
    node.attributes = std::move(attributes);
    return node;
  }
  std::optional<FusedLayer> read(Diagnostics& refusals) const {
    return read_layer(graph, graph.nodes[0], refusals);
  }
  FusedLayer layer() const {
    Diagnostics refusals;
    std::optional<FusedLayer> read_one = read(refusals);
    refusals.raise_if_any();
    return *read_one;
  }
  size_t refusal_count() const {
    Diagnostics refusals;
    const bool taken = read(refusals).has_value();
    EXPECT_EQ(taken, refusals.ok());
    return refusals.errors().size();
  }
  std::string refusal() const {
    Diagnostics refusals;
    EXPECT_FALSE(read(refusals).has_value());
    for (const Diagnostic& problem : refusals.errors()) {
      EXPECT_EQ(problem.kind, ErrorKind::kUnsupported);
      EXPECT_EQ(problem.where, "node 'n'");
      EXPECT_EQ(problem.op, graph.nodes[0].op);
    }
    return refusals.ok() ? "" : refusals.errors()[0].message;
  }
};

OneNode convolution(const Ints& multipliers, const Ints& shifts, Attributes attributes = {}) {
  OneNode one(ElementType::kI8, {2, 4, 5, 6});
  const ValueId w = one.constant(ElementType::kI8, {6, 2, 3, 3}, {1, -2});
  const ValueId b = one.constant(ElementType::kI32, {6}, {10, 20, 30});
  const ValueId m = one.constant(ElementType::kI32, {int64_t(multipliers.size())}, multipliers);
  const ValueId s = one.constant(ElementType::kI32, {int64_t(shifts.size())}, shifts);
  attributes["group"] = int64_t{2};
  attributes["pads"] = Ints{1, 0, 1, 2};
  one.add("QConv", {w, b, m, s}, std::move(attributes));
  return one;
}

TEST(FusedLayer, AConvolutionWithAllItsNumbers) {
  const OneNode one = convolution({5}, {1, 2, 3, 4, 5, 6},
                                  {{"y_zero_point", int64_t{3}},
                                   {"clip_low", int64_t{0}},
                                   {"clip_high", int64_t{1}},
                                   {"bipolar", int64_t{1}},
                                   {"pad_value", int64_t{-7}},
                                   {"strides", Ints{1, 2}}});
  const FusedLayer layer = one.layer();
  EXPECT_EQ(layer.name, "n");
  EXPECT_EQ(layer.op, "QConv");
  EXPECT_EQ(layer.function, OperatorFunction::kConvolution);
  EXPECT_EQ(layer.number, NumberType::kInteger);
  EXPECT_EQ(layer.input, one.x);
  EXPECT_EQ(layer.result, one.graph.nodes[0].outputs[0]);
  EXPECT_EQ(layer.geometry.batch, 2);
  EXPECT_EQ(layer.geometry.input_channels, 4);
  EXPECT_EQ(layer.geometry.output_channels, 6);
  EXPECT_EQ(layer.geometry.group, 2);
  EXPECT_FALSE(layer.geometry.is_depthwise());
  EXPECT_EQ(layer.geometry.window.height(), (WindowAxis{5, 3, 1, 1, 1, 1, 5}));
  EXPECT_EQ(layer.geometry.window.width(), (WindowAxis{6, 3, 2, 1, 0, 2, 3}));
  EXPECT_EQ(layer.pad_value, -7);
  EXPECT_EQ(layer.weights, one.graph.constant_input(one.graph.nodes[0], 1));
  EXPECT_EQ(layer.finish.bias, (std::vector<int32_t>{10, 20, 30, 10, 20, 30}));
  ASSERT_EQ(layer.finish.scale.size(), 6u);
  EXPECT_EQ(layer.finish.scale[4], (Requantization{5, 5}));
  EXPECT_EQ(layer.finish.zero_point, 3);
  EXPECT_EQ(layer.finish.clip_low, 0);
  EXPECT_EQ(layer.finish.clip_high, 1);
  EXPECT_TRUE(layer.finish.bipolar);
}

TEST(FusedLayer, OneScaleStaysOne) {
  const FusedLayer layer = convolution({5}, {9}).layer();
  EXPECT_EQ(layer.finish.scale, (std::vector<Requantization>{{5, 9}}));
  EXPECT_EQ(layer.finish.clip_low, -128);
  EXPECT_EQ(layer.finish.clip_high, 127);
}

TEST(FusedLayer, FixedPointScalesByItsFraction) {
  OneNode one(ElementType::kI32, {1, 3});
  const ValueId w = one.constant(ElementType::kI32, {2, 3}, {7});
  const ValueId b = one.constant(ElementType::kI32, {2}, {-1});
  one.add("FixedGemm", {w, b}, {{"fraction", int64_t{22}}, {"clip_low", int64_t{0}}}, ElementType::kI32);
  const FusedLayer layer = one.layer();
  EXPECT_EQ(layer.number, NumberType::kFixed);
  EXPECT_EQ(layer.function, OperatorFunction::kDense);
  EXPECT_EQ(layer.geometry.input_channels, 3);
  EXPECT_EQ(layer.geometry.output_channels, 2);
  EXPECT_TRUE(layer.geometry.window.axes.empty());
  EXPECT_EQ(layer.finish.scale, (std::vector<Requantization>{{1, 22}}));
  EXPECT_EQ(layer.finish.bias, (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(layer.finish.clip_low, 0);
  EXPECT_EQ(layer.finish.clip_high, INT32_MAX);

  OneNode pool(ElementType::kI32, {1, 3, 4, 4});
  pool.add("FixedAveragePool", {},
           {{"kernel_shape", Ints{2, 2}}, {"fraction", int64_t{8}}, {"multiplier", int64_t{64}}},
           ElementType::kI32);
  EXPECT_EQ(pool.layer().finish.scale, (std::vector<Requantization>{{64, 8}}));
  EXPECT_EQ(pool.layer().geometry.window.width().kernel, 2);
}

TEST(FusedLayer, Additions) {
  OneNode one(ElementType::kI8, {1, 3});
  const ValueId z = one.graph.add_input("z", ElementType::kI8, {1, 3});
  Node& node = one.add("QAdd", {z},
                       {{"multiplier_a", int64_t{3}},
                        {"multiplier_b", int64_t{-5}},
                        {"bias", int64_t{11}},
                        {"shift", int64_t{31}}});
  const FusedLayer layer = one.layer();
  EXPECT_EQ(layer.other, z);
  EXPECT_EQ(layer.multiplier_a, 3);
  EXPECT_EQ(layer.multiplier_b, -5);
  EXPECT_EQ(layer.finish.bias, (std::vector<int32_t>{11}));
  EXPECT_EQ(layer.finish.scale, (std::vector<Requantization>{{1, 31}}));
  node.attributes["shift"] = int64_t{32};
  EXPECT_EQ(one.refusal(), "multipliers and bias of an addition must fit 32 bits and its shift 0..31");
}

TEST(FusedLayer, MaximaClipsAndTables) {
  for (const ElementType type : {ElementType::kI8, ElementType::kI32}) {
    const bool wide = type == ElementType::kI32;
    OneNode relu(type, {1, 3});
    relu.add("Relu", {}, {}, type);
    EXPECT_EQ(relu.layer().number, wide ? NumberType::kFixed : NumberType::kInteger);
    EXPECT_EQ(relu.layer().finish.clip_low, 0);
    EXPECT_EQ(relu.layer().finish.clip_high, wide ? INT32_MAX : 127);
    OneNode clip(type, {1, 3});
    clip.add("Clip", {kNoValue, clip.constant(type, {}, {6})}, {}, type);
    EXPECT_EQ(clip.layer().finish.clip_low, wide ? INT32_MIN : -128);
    EXPECT_EQ(clip.layer().finish.clip_high, 6);
    OneNode pool(type, {1, 3, 4, 5});
    pool.add("GlobalMaxPool", {}, {}, type);
    EXPECT_EQ(pool.layer().geometry.window.width().kernel, 5);
    EXPECT_TRUE(pool.layer().finish.scale.empty());
  }
  OneNode lookup(ElementType::kI32, {1, 3});
  lookup.add("FixedLookup", {lookup.constant(ElementType::kI32, {513}, {1})}, {{"input_shift", int64_t{4}}},
             ElementType::kI32);
  EXPECT_EQ(lookup.layer().table->size(), 513);
  EXPECT_EQ(lookup.layer().input_shift, 4);
}

TEST(FusedLayer, RefusalsNameTheNodeAndEveryReason) {
  OneNode floats(ElementType::kF32, {1, 3});
  floats.add("Relu", {}, {}, ElementType::kF32);
  EXPECT_EQ(floats.refusal(), "it is not an integer or fixed-point layer");

  OneNode open(ElementType::kI8, {1, 4, 5, 5});
  const ValueId w = open.graph.add_input("w", ElementType::kI8, {6, 4, 3, 3});
  const ValueId b = open.graph.add_input("b", ElementType::kI32, {6});
  const ValueId one = open.constant(ElementType::kI32, {1}, {1});
  open.add("QConv", {w, b, one, one});
  EXPECT_EQ(open.refusal(), "the weights must be constant");
  EXPECT_EQ(open.refusal_count(), 2u);  // and the bias

  EXPECT_EQ(convolution({1, 2, 3}, {1}).refusal(),
            "bias, multiplier and shift must have one entry per output channel");
  EXPECT_EQ(convolution({1, 2, 3, 4, 5, 6}, {1, 2}).refusal(),
            "bias, multiplier and shift must have one entry per output channel");
  EXPECT_EQ(convolution({0}, {63}).refusal(),
            "a multiplier must be positive and a shift in 0..62 or, to round twice, 96..126");
  EXPECT_EQ(convolution({1}, {1}, {{"clip_low", int64_t{5}}, {"clip_high", int64_t{4}}}).refusal(),
            "y_zero_point, clip_low and clip_high must lie in -128..127, in order");
  const OneNode several =
      convolution({1}, {1}, {{"pad_value", int64_t{128}}, {"y_zero_point", int64_t{128}}});
  EXPECT_EQ(several.refusal(), "y_zero_point, clip_low and clip_high must lie in -128..127, in order");
  EXPECT_EQ(several.refusal_count(), 2u);

  OneNode dense(ElementType::kI8, {1, 4});
  const ValueId k = dense.constant(ElementType::kI8, {6, 5}, {1});
  const ValueId single = dense.constant(ElementType::kI32, {1}, {1});
  dense.add("QGemm", {k, single, single, single});
  EXPECT_EQ(dense.refusal(), "input and weights of a dense layer must be [N,K] and [O,K]");
}

}  // namespace
}  // namespace tilewright
