// What keeps narrow layers from the overlay, and what their words hold.
#include <gtest/gtest.h>

#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {
namespace {

OverlayHardware narrow_overlay(int bits) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.input_bits = hardware.weight_bits = hardware.output_bits = bits;
  hardware.block_in = 128 / bits;
  return hardware;
}

struct Case {
  int64_t low = -8, high = 7;  // of the inputs; 0 and 1 with `bipolar`: -1 and +1
  bool bipolar = false;
  int64_t weight = 1, out_low = -8, out_high = 7, channels = 4, group = 1, pad_value = 0, pad = 0;
};

// A host node that bounds the input, and a convolution (the last node) of 3x3.
Graph graph_of(const Case& test) {
  Graph graph;
  const Shape shape{1, test.channels, 5, 5};
  const ValueId wide = graph.add_input("x", ElementType::kI8, shape);
  const ValueId x = graph.add_value("narrow", ElementType::kI8, shape);
  Node& bound = graph.add_node("bound", "QRequantize", {wide}, {x}, kTilewrightDomain);
  bound.attributes = {{"multiplier", int64_t{1}},
                      {"shift", int64_t{0}},
                      {"clip_low", test.low},
                      {"clip_high", test.high},
                      {"bipolar", int64_t(test.bipolar)}};
  Tensor weights(ElementType::kI8, Shape{test.channels, test.channels / test.group, 3, 3});
  for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, test.weight);
  const ValueId w = graph.add_constant("w", std::move(weights));
  const ValueId b = graph.add_constant("b", Tensor(ElementType::kI32, Shape{test.channels}));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>(Shape{1}, {2}));
  const int64_t size = 3 + 2 * test.pad;
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, test.channels, size, size});
  Node& conv = graph.add_node("conv", "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  conv.attributes = {{"clip_low", test.out_low},
                     {"clip_high", test.out_high},
                     {"group", test.group},
                     {"pad_value", test.pad_value},
                     {"pads", std::vector<int64_t>(4, test.pad)}};
  graph.outputs = {y};
  return graph;
}

std::string reason(const Case& test, int bits) {
  const Graph graph = graph_of(test);
  std::string text;
  return supports(graph, graph.nodes.back(), narrow_overlay(bits), &text) ? "" : text;
}

TEST(LayerLimits, FourBits) {
  EXPECT_EQ(reason({}, 4), "");
  EXPECT_EQ(reason({.low = -9}, 4), "its inputs, -9 to 7, need more than 4 bits");
  EXPECT_EQ(reason({.out_high = 8}, 4), "its outputs, -8 to 8, need more than 4 bits");
  EXPECT_EQ(reason({.pad_value = 8, .pad = 1}, 4), "the padding, 8, is not a value of 4-bit inputs");
  EXPECT_EQ(reason({.pad_value = 8}, 4), "");  // nothing is padded
  EXPECT_EQ(reason({.weight = 28}, 4), "");    // four planes of 7
  EXPECT_EQ(reason({.weight = 29}, 4), "weights beyond 4 passes of 4 bits (29 to 29)");
  EXPECT_EQ(reason({.low = 0, .high = 1, .bipolar = true}, 4), "");
}

TEST(LayerLimits, OneBit) {
  const Case bits{.low = 0, .high = 1, .out_low = 0, .out_high = 1};
  EXPECT_EQ(reason(bits, 1), "");
  Case signs = bits;
  signs.bipolar = true;
  EXPECT_EQ(reason(signs, 1), "");
  signs.pad = 1;
  EXPECT_EQ(reason(signs, 1), "the padding, 0, is not a value of 1-bit bipolar inputs");
  signs.pad_value = 1;
  EXPECT_EQ(reason(signs, 1), "");
  signs.channels = 5;
  EXPECT_EQ(reason(signs, 1), "an odd number of 1-bit channels can only be padded with the zero bit");
  signs.pad_value = -1;
  EXPECT_EQ(reason(signs, 1), "");
  Case other = bits;
  other.weight = 0;
  EXPECT_EQ(reason(other, 1), "1-bit weights must be -1 and +1");
  other.weight = 2;
  EXPECT_EQ(reason(other, 1), "weights beyond 1 passes of 1 bits (2 to 2)");
  Case groups = bits;
  groups.group = 2;
  EXPECT_NE(reason(groups, 1).find("1-bit weights have no zero"), std::string::npos);
  groups.channels = 256;
  EXPECT_EQ(reason(groups, 1), "");
}

// Three channels of signs in words of 128 lanes: the words' ends cancel but for one lane.
TEST(LayerLimits, LanesBehindTheLastChannel) {
  const Graph graph =
      graph_of({.low = 0, .high = 1, .bipolar = true, .out_low = 0, .out_high = 1, .channels = 3});
  const OverlayHardware hardware = narrow_overlay(1);
  const OverlayLayer layer = extract_layer(graph, graph.nodes.back(), hardware);
  EXPECT_EQ(unused_lane_sum(layer), -9);
  std::vector<std::byte> words(size_t(packed_weight_bytes(layer, hardware)));
  ASSERT_EQ(words.size(), size_t(9 * hardware.weight_bytes()));
  pack_weights(layer, hardware, words);
  // Channel 0 of the first tap: three weights +1, then +1 and -1 in turn.
  EXPECT_EQ(words[0], std::byte{0b10101111});
  for (size_t i = 1; i < 16; ++i) EXPECT_EQ(words[i], std::byte{0b10101010});
  const OutputPasses passes = make_output_passes(layer, IsaVersion::kWide);
  EXPECT_EQ(passes.parameters[0], (std::vector<int32_t>{9, 9, 9}));
}

TEST(LayerLimits, ActivationsPackToTheirBits) {
  const Tensor x = Tensor::of<int8_t>({1, 3, 1, 2}, {1, -2, -1, 0, 0, 1});
  const SourceView view{1, 3, 1, 2};
  const OverlayHardware two = narrow_overlay(2);
  std::vector<std::byte> bytes(size_t(packed_activation_bytes(view, two)));
  ASSERT_EQ(bytes.size(), 32u);
  pack_activation(x, view, false, two, bytes);
  EXPECT_EQ(bytes[0], std::byte{0b001101});   // 1, -1, 0
  EXPECT_EQ(bytes[16], std::byte{0b010010});  // -2, 0, 1
  EXPECT_TRUE(unpack_activation(bytes, view, false, two).identical(x));
  const Tensor signs = Tensor::of<int8_t>({1, 3, 1, 2}, {1, -1, -1, 1, 1, -1});
  const OverlayHardware one = narrow_overlay(1);
  pack_activation(signs, view, true, one, bytes);
  EXPECT_EQ(bytes[0], std::byte{0b101});
  EXPECT_EQ(bytes[16], std::byte{0b010});
  EXPECT_EQ(bytes[1], std::byte{0});
  EXPECT_TRUE(unpack_activation(bytes, view, true, one).identical(signs));
}

}  // namespace
}  // namespace tilewright::overlay
