#include "tilewright/quantize/layer_ranges.h"

#include <gtest/gtest.h>

#include "tilewright/quantize/float_graph_testing.h"

namespace tilewright {
namespace {

constexpr int64_t kInputs = 64;
constexpr NumberForm kForm{4, true, false};

// A dense layer of 64 inputs with these weights, and what 2,000 samples say of it.
struct Layer {
  PreparedNetwork network;
  SampleStatistics statistics;
};

Layer layer_of(const Tensor& weights, const Tensor& samples) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, kInputs});
  const ValueId w = graph.add_constant("w", weights);
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, weights.shape()[1]});
  graph.add_node("dense", "MatMul", {x, w}, {y});
  graph.outputs = {y};
  QuantizationPlan plan = plan_quantization(graph);
  Layer layer{prepare_network(std::move(graph), std::move(plan)), {}};
  layer.statistics = gather_statistics(layer.network, {samples}, 1);
  return layer;
}

Quantization chosen(const Layer& layer, const NumberForm& form = kForm) {
  return select_by_layers(layer.network, layer.statistics, 0, form);
}

Tensor numbers(FloatGraph& g, double low, double high) { return g.numbers({2000, kInputs}, low, high); }

// In one of 50 samples every number is large and positive.
Tensor with_loud_samples(FloatGraph& g) {
  Tensor samples = numbers(g, -1, 1);
  for (int64_t i = 0; i < samples.size(); ++i) {
    if (i / kInputs % 50 == 0) samples.set_number(i, 3 + samples.number_at(i) / 10);
  }
  return samples;
}

// Clipped together, they add up in a layer of equal weights and cancel in one of alternating ones.
TEST(LayerRanges, ClipsWhereTheReaderDoesNotNotice) {
  FloatGraph g;
  const Tensor samples = with_loud_samples(g);
  Tensor equal(ElementType::kF32, {kInputs, 1}), alternating = equal;
  for (int64_t i = 0; i < kInputs; ++i) {
    equal.set_number(i, 1);
    alternating.set_number(i, i % 2 == 0 ? 1 : -1);
  }
  const float wide = chosen(layer_of(equal, samples)).scale;
  const float narrow = chosen(layer_of(alternating, samples)).scale;
  EXPECT_GE(double(wide) * 7, 2.7);
  EXPECT_LT(double(narrow) * 7, 2.2);
}

// Many outputs are summed up with signs; few are looked at one by one. Both find the same for equal weights.
TEST(LayerRanges, ManyOutputsAreAsOne) {
  FloatGraph g;
  const Tensor samples = with_loud_samples(g);
  for (const int64_t outputs : {int64_t{4}, int64_t{100}}) {
    Tensor equal(ElementType::kF32, {kInputs, outputs});
    for (int64_t i = 0; i < equal.size(); ++i) equal.set_number(i, 1);
    EXPECT_GE(double(chosen(layer_of(equal, samples)).scale) * 7, 2.7) << outputs;
  }
}

// A number of an input that the layer does not multiply may be clipped, however far out it is.
TEST(LayerRanges, IgnoresInputsWithoutWeight) {
  FloatGraph g;
  Tensor samples = numbers(g, -1, 1);
  for (int64_t row = 0; row < 2000; ++row) samples.set_number(row * kInputs, 2.4);
  Tensor weights = g.numbers({kInputs, 3}, -1, 1);
  EXPECT_GE(double(chosen(layer_of(weights, samples)).scale) * 7, 1.9);
  for (int64_t o = 0; o < 3; ++o) weights.set_number(o, 0);
  EXPECT_LT(double(chosen(layer_of(weights, samples)).scale) * 7, 1.2);
}

TEST(LayerRanges, PowersOfTwoAndBothSides) {
  FloatGraph g;
  const Layer layer = layer_of(g.numbers({kInputs, 5}, -1, 1), numbers(g, -0.25, 1));
  const Quantization power = chosen(layer, {8, true, true});
  EXPECT_TRUE(exponent_of_power_of_two(double(power.scale)));
  EXPECT_EQ(power.zero_point, 0);
  const Quantization q = chosen(layer, {8, false, false});
  EXPECT_NEAR(dequantize_number(-128, q), -0.25, 0.06);
  EXPECT_NEAR(dequantize_number(127, q), 1, 0.1);
}

}  // namespace
}  // namespace tilewright
