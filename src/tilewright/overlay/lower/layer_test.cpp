#include "tilewright/overlay/schedule/layer.h"

#include <gtest/gtest.h>

#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {
namespace {

struct ConvOptions {
  ElementType weight_type = ElementType::kI8;
  int64_t weight = 1, group = 1, multiplier = 1, shift = 8, bias = 0;
  bool constant_weights = true;
  Shape x = Shape{1, 4, 5, 5}, w = Shape{6, 4, 3, 3};
};

Tensor filled(ElementType type, Shape shape, int64_t value) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, value);
  return tensor;
}

Graph conv_graph(const ConvOptions& options) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, options.x);
  const Tensor weights = filled(options.weight_type, options.w, options.weight);
  const ValueId w = options.constant_weights ? graph.add_constant("w", weights)
                                             : graph.add_input("w", options.weight_type, options.w);
  const int64_t outputs = options.w[0];
  const ValueId b = graph.add_constant("b", filled(ElementType::kI32, Shape{outputs}, options.bias));
  const ValueId m = graph.add_constant("m", filled(ElementType::kI32, Shape{1}, options.multiplier));
  const ValueId s = graph.add_constant("s", filled(ElementType::kI32, Shape{1}, options.shift));
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, outputs, 3, 3});
  graph.add_node("conv1", "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain).attributes["group"] =
      options.group;
  graph.outputs = {y};
  return graph;
}

std::string reason_for(const Graph& graph, const OverlayHardware& hardware) {
  std::string reason;
  return supports(graph, graph.nodes[0], hardware, &reason) ? "" : reason;
}

TEST(Layer, ReasonsNameWhatIsMissing) {
  const OverlayHardware plain;
  OverlayHardware wide;
  wide.isa = IsaVersion::kWide;
  EXPECT_EQ(reason_for(conv_graph({}), plain), "");
  EXPECT_EQ(reason_for(conv_graph({.multiplier = 1234567891, .shift = 40}), wide), "");
  EXPECT_EQ(reason_for(conv_graph({.multiplier = 1234567891, .shift = 40}), plain),
            "the plain instruction set only scales by powers of two; quantise with power-of-two scales");
  EXPECT_EQ(reason_for(conv_graph({.constant_weights = false}), plain), "the weights must be constant");
  EXPECT_EQ(reason_for(conv_graph({.bias = 2147480000}), plain),
            "accumulator and rounding constant may leave 32 bits on the plain instruction set");
  EXPECT_EQ(reason_for(conv_graph({.weight_type = ElementType::kI16, .weight = 600}), plain),
            "weights beyond 4 passes of 8 bits (600 to 600)");
  EXPECT_EQ(reason_for(conv_graph({.weight_type = ElementType::kI32}), plain), "weights must be i8 or i16");

  EXPECT_NE(reason_for(conv_graph({.x = Shape{1, 4, 3, 70000}}), plain).find("exceed 65535 positions"),
            std::string::npos);
  EXPECT_EQ(reason_for(conv_graph({.x = Shape{1, 4, 3, 70000}}), wide), "");

  OverlayHardware uneven = plain;
  uneven.block_out = 32;
  EXPECT_NE(reason_for(conv_graph({}), uneven).find("block_in is not a multiple of its block_out"),
            std::string::npos);
  uneven.block_out = 8;
  EXPECT_EQ(reason_for(conv_graph({}), uneven), "");
  uneven.batch = 2;
  EXPECT_NE(reason_for(conv_graph({}), uneven).find("its batch is not 1"), std::string::npos);
  OverlayHardware mixed = plain;
  mixed.output_bits = 4;
  EXPECT_NE(reason_for(conv_graph({}), mixed).find("input_bits and output_bits differ"), std::string::npos);

  Graph other = conv_graph({});
  other.nodes[0].op = "QLayerNorm";
  EXPECT_EQ(reason_for(other, plain), "the overlay has no row functions (row_functions in its description)");
  Graph floats = conv_graph({});
  floats.value(floats.inputs[0]).type = ElementType::kF32;
  EXPECT_EQ(reason_for(floats, plain), "only i8 and i16 activations run on the overlay");
}

TEST(Layer, WhatTurnsAndHidesTokensHasNoLowering) {
  OverlayHardware rows;
  rows.isa = IsaVersion::kWide;
  rows.lookup_table = rows.row_functions = true;
  Graph softmax;
  const ValueId x = softmax.add_input("x", ElementType::kI8, Shape{6, 16});
  const ValueId table = softmax.add_constant("table", filled(ElementType::kI32, Shape{256}, 1000));
  const ValueId y = softmax.add_value("y", ElementType::kI8, Shape{6, 16});
  Node& node = softmax.add_node("softmax", "QSoftmax", {x, table}, {y}, kTilewrightDomain);
  node.attributes = {{"numerator", int64_t{256000}}, {"shift", int64_t{0}}};
  EXPECT_EQ(reason_for(softmax, rows), "");
  node.attributes["causal"] = int64_t{3};
  EXPECT_EQ(reason_for(softmax, rows), "a causal softmax of several rows has no lowering");
  Graph rotary;
  const ValueId a = rotary.add_input("a", ElementType::kI8, Shape{6, 16});
  const ValueId angles = rotary.add_constant("angles", filled(ElementType::kI8, Shape{6, 8}, 1));
  const ValueId b = rotary.add_value("b", ElementType::kI8, Shape{6, 16});
  rotary.add_node("turn", "QRotary", {a, angles, angles}, {b}, kTilewrightDomain).attributes = {
      {"multiplier", int64_t{1}}, {"shift", int64_t{0}}};
  EXPECT_EQ(reason_for(rotary, rows), "the overlay has no lowering for QRotary");
}

TEST(Layer, ExtractNamesTheNode) {
  const Graph graph = conv_graph({.constant_weights = false});
  try {
    extract_layer(graph, graph.nodes[0], {});
    FAIL() << "extracted a convolution without weights";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("node 'conv1'"), std::string::npos);
  }
}

TEST(Layer, SixteenBitWeightsAreSumsOfPlanes) {
  const Graph graph = conv_graph({.weight_type = ElementType::kI16, .weight = -300});
  const OverlayLayer layer = extract_layer(graph, graph.nodes[0], {});
  ASSERT_EQ(layer.weight_planes, 3);
  EXPECT_EQ(layer.phases[0].grids.size(), 3u);
  for (int position = 0; position < 9; ++position) {
    int sum = 0;
    for (int plane = 0; plane < 3; ++plane) sum += layer.weight(2, 3, plane * 9 + position);
    EXPECT_EQ(sum, -300);
  }
  EXPECT_EQ(accumulator_bound(layer, 0), int64_t{300} * 128 * 4 * 9);
}

TEST(Layer, GroupsSeeTheirChannelsOnly) {
  const Graph graph = conv_graph({.weight = 7, .group = 2, .w = Shape{6, 2, 3, 3}});
  const OverlayLayer layer = extract_layer(graph, graph.nodes[0], {});
  EXPECT_EQ(layer.pattern, ChannelPattern::kGrouped);
  for (int64_t o = 0; o < 6; ++o) {
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(layer.weight(o, i, 0), o / 3 == i / 2 ? 7 : 0);
  }
}

TEST(Layer, TransposedConvolutionsIssueOnlyTapsThatReach) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 2, 3, 3});
  const ValueId w = graph.add_constant("w", filled(ElementType::kI8, Shape{2, 3, 4, 4}, 1));
  const ValueId b = graph.add_constant("b", filled(ElementType::kI32, Shape{3}, 0));
  const ValueId m = graph.add_constant("m", filled(ElementType::kI32, Shape{1}, 1));
  const ValueId s = graph.add_constant("s", filled(ElementType::kI32, Shape{1}, 4));
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 3, 6, 6});
  Node& node = graph.add_node("up", "QConvTranspose", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{2, 2};
  node.attributes["pads"] = std::vector<int64_t>{1, 1, 1, 1};
  const OverlayLayer layer = extract_layer(graph, graph.nodes[0], {});
  ASSERT_EQ(layer.phases.size(), 4u);
  for (const Phase& phase : layer.phases) {
    ASSERT_EQ(phase.grids.size(), 1u);
    EXPECT_EQ(phase.grids[0].ny, 2);
    EXPECT_EQ(phase.grids[0].nx, 2);
  }
  // Four of the sixteen kernel positions per output: 6*6 outputs, 4 taps, 2 x 3 channels.
  EXPECT_EQ(layer.macs, 6 * 6 * 4 * 2 * 3);
}

TEST(Layer, AdditionsShedCommonPowersOfTwo) {
  Graph graph;
  const ValueId a = graph.add_input("a", ElementType::kI8, Shape{1, 4, 2, 2});
  const ValueId b = graph.add_input("b", ElementType::kI8, Shape{1, 4, 2, 2});
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 4, 2, 2});
  Node& node = graph.add_node("add", "QAdd", {a, b}, {y}, kTilewrightDomain);
  node.attributes["multiplier_a"] = int64_t{1} << 20;
  node.attributes["multiplier_b"] = int64_t{3} << 19;
  node.attributes["shift"] = int64_t{21};
  const OverlayLayer layer = extract_layer(graph, graph.nodes[0], {});
  EXPECT_EQ(layer.diagonal, (std::vector<int8_t>{2, 3}));
  EXPECT_EQ(layer.output.scale[0].shift, 2);
  EXPECT_EQ(layer.sources.size(), 2u);
}

TEST(Layer, ViewsAreShapesOnly) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{2, 3, 4, 5});
  const ValueId flat = graph.add_value("flat", ElementType::kI8, Shape{2, 60});
  const ValueId mixed = graph.add_value("mixed", ElementType::kI8, Shape{2, 6, 10, 1});
  graph.add_node("flatten", "Flatten", {x}, {flat});
  graph.add_node("reshape", "Reshape", {x}, {mixed});
  EXPECT_TRUE(is_view(graph, graph.nodes[0]));
  EXPECT_FALSE(is_view(graph, graph.nodes[1]));
}

TEST(Layer, FoldedImagesHoldTheirNeighbours) {
  const Graph graph = conv_graph({.x = Shape{1, 1, 4, 6}, .w = Shape{2, 1, 3, 3}});
  const OverlayLayer layer = extract_layer(graph, graph.nodes[0], {});
  const auto folded = fold_input(layer, 1, 3);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->sources[0].channels, 3);
  EXPECT_EQ(folded->weight_count(), 3);
  Tensor image(ElementType::kI8, Shape{1, 1, 4, 6});
  for (int64_t i = 0; i < image.size(); ++i) image.set_integer(i, i);
  const Tensor packed =
      fold_image(image, 1, *folded->fold, folded->sources[0].height, folded->sources[0].width);
  ASSERT_EQ(packed.shape(), (Shape{1, 3, 4, 4}));
  for (int64_t lane = 0; lane < 3; ++lane) EXPECT_EQ(packed.integer_at(lane * 16 + 4 + 1), 6 + 1 + lane);
  EXPECT_FALSE(fold_input(layer, 1, 4).has_value());
  EXPECT_FALSE(fold_input(*folded, 1, 2).has_value());
}

}  // namespace
}  // namespace tilewright::overlay
