#include "tilewright/quantize/mixed_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/error_text_testing.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/noise.h"

namespace tilewright {
namespace {

// The largest magnitude among the integers of a layer's weights.
int64_t largest_weight(const Graph& qdq, const std::string& layer) {
  for (const Node& node : qdq.nodes) {
    if (node.name != layer + "_weights_dequantize") continue;
    int64_t largest = 0;
    for (const int64_t w : qdq.constant_input(node, 0)->to_integers())
      largest = std::max(largest, std::abs(w));
    return largest;
  }
  return -1;
}

double output_db(const Graph& exact, const Graph& qdq, const std::vector<Tensor>& samples) {
  return least_db(NoiseMeter(exact, samples, 1).measure(qdq).outputs);
}

TEST(MixedPrecision, KeepsTheMeanAndSaysWhatItDid) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    FloatGraph g = separable_graph(seed);
    const std::vector<Tensor> samples = {g.numbers({8, 3, 12, 12}, -1, 1)};
    for (const double mean : {7.9, 6.0, 4.5, 4.0, 8.0}) {
      MixedBits bits;
      bits.weight_bits = {8, 4, 6};
      bits.mean_bits = mean;
      MixedReport report;
      const Graph qdq = quantize_mixed(g.graph, samples, {}, bits, nullptr, &report);
      EXPECT_LE(report.mean_bits, mean);
      // No single layer could have its next larger width without breaking the bound.
      for (const MixedReport::Layer& layer : report.layers) {
        const int next = layer.bits == 4 ? 6 : 8;
        const double whole = 162 + 54 + 24;  // weights of the three layers
        if (layer.bits < 8) {
          EXPECT_GT(report.mean_bits + double(layer.weights * (next - layer.bits)) / whole, mean);
        }
      }
      double sum = 0, weights = 0;
      for (const MixedReport::Layer& layer : report.layers) {
        EXPECT_EQ(layer.alone_db.size(), 2u);
        EXPECT_LE(largest_weight(qdq, layer.node), (1 << (layer.bits - 1)) - 1) << layer.node;
        sum += double(layer.weights * layer.bits);
        weights += double(layer.weights);
      }
      EXPECT_EQ(report.layers.size(), 3u);
      EXPECT_DOUBLE_EQ(report.mean_bits, sum / weights);
      EXPECT_NEAR(report.output_db, output_db(g.graph, qdq, samples), 0.01);
      IntegerizeReport integers;
      integerize(qdq, &integers);
      EXPECT_EQ(integers.integer_mac_share(), 1.0);
    }
  }
}

// A layer of no consequence gives its bits away first.
TEST(MixedPrecision, TakesBitsWhereTheOutputsDoNotNotice) {
  FloatGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 4, 8, 8});
  const ValueId loud = g.convolution(x, 4), quiet = g.convolution(x, 4);
  Tensor faint = *g.graph.constant_input(g.graph.nodes[1], 1);
  for (float& w : faint.mutable_data<float>()) w *= 1e-3f;
  g.graph.nodes[1].inputs[1] = g.graph.add_constant("faint", faint);
  g.graph.outputs = {g.node("Add", {loud, quiet}, {1, 4, 8, 8})};
  const std::vector<Tensor> samples = {g.numbers({6, 4, 8, 8}, -1, 1)};
  MixedBits bits;
  bits.mean_bits = 6;
  MixedReport report;
  quantize_mixed(g.graph, samples, {}, bits, nullptr, &report);
  EXPECT_EQ(report.layers.at(0).bits, 8);
  EXPECT_EQ(report.layers.at(1).bits, 4);
  EXPECT_GT(report.layers[1].alone_db.at(0), report.layers[0].alone_db.at(0) + 6);
}

TEST(MixedPrecision, ReachesItsTarget) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    FloatGraph g = separable_graph(seed);
    const std::vector<Tensor> samples = {g.numbers({8, 3, 12, 12}, -1, 1)};
    QuantizeOptions options;
    MixedBits bits;
    MixedReport uniform;
    bits.target_db = 5;
    quantize_mixed(g.graph, samples, options, bits, nullptr, &uniform);
    EXPECT_EQ(uniform.mean_bits, 4);  // all may lose that much
    bits.target_db = uniform.uniform_db - 4;
    MixedReport report;
    const Graph qdq = quantize_mixed(g.graph, samples, options, bits, nullptr, &report);
    EXPECT_TRUE(report.reached);
    EXPECT_GE(output_db(g.graph, qdq, samples), *bits.target_db - 0.01);
    EXPECT_LE(report.mean_bits, 8);
  }
}

// Beyond what 8 bits reach: 16 where allowed, in a graph that runs; without, it says so.
TEST(MixedPrecision, WidensActivations) {
  FloatGraph g = separable_graph(3);
  const std::vector<Tensor> samples = {g.numbers({8, 3, 12, 12}, -1, 1)};
  MixedBits bits;
  bits.target_db = 1;
  MixedReport report;
  quantize_mixed(g.graph, samples, {}, bits, nullptr, &report);
  bits.target_db = report.uniform_db + 1;
  const Graph narrow = quantize_mixed(g.graph, samples, {}, bits, nullptr, &report);
  EXPECT_FALSE(report.reached);
  EXPECT_NE(to_string(report).find("the target is not reached"), std::string::npos);
  bits.wide_activations = true;
  const Graph wide = quantize_mixed(g.graph, samples, {}, bits, nullptr, &report);
  EXPECT_TRUE(report.reached);
  EXPECT_GE(output_db(g.graph, wide, samples), *bits.target_db - 0.01);
  int of_16_bits = 0;
  for (const Node& node : wide.nodes)
    of_16_bits += node.is("QuantizeLinear") && wide.value(node.outputs[0]).type == ElementType::kI16;
  int told = 0;
  for (const MixedReport::Activation& activation : report.activations) told += activation.wide;
  EXPECT_EQ(of_16_bits, told);
  EXPECT_GT(told, 0);
  EXPECT_LT(told, int(report.activations.size()));
  IntegerizeReport integers;
  const Graph integer = integerize(wide, &integers);
  EXPECT_EQ(integers.integer_mac_share(), 1.0) << to_string(integers);
  const Tensor image = g.numbers({1, 3, 12, 12}, -1, 1);
  const Tensor exact = run(g.graph, {image})[0], got = run(integer, {image})[0];
  double signal = 0, noise = 0;
  for (int64_t i = 0; i < exact.size(); ++i) {
    signal += exact.number_at(i) * exact.number_at(i);
    noise += std::pow(exact.number_at(i) - got.number_at(i), 2);
  }
  EXPECT_GT(10 * std::log10(signal / noise), *bits.target_db - 3);
}

TEST(MixedPrecision, DoesNotDependOnThreads) {
  FloatGraph g = residual_network();
  const std::vector<Tensor> samples = {g.numbers({8, 2, 8, 8}, -1, 1)};
  MixedBits bits;
  bits.mean_bits = 6;
  MixedReport one, three;
  QuantizeOptions options;
  quantize_mixed(g.graph, samples, options, bits, nullptr, &one);
  options.threads = 3;
  quantize_mixed(g.graph, samples, options, bits, nullptr, &three);
  EXPECT_EQ(to_string(one), to_string(three));
}

TEST(MixedPrecisionRejects, BoundsAndWidths) {
  const FloatGraph g = residual_network();
  const auto text = [&](const MixedBits& bits, const QuantizeOptions& options = {}) {
    return error_text([&] { quantize_mixed(g.graph, {}, options, bits); });
  };
  MixedBits bits;
  EXPECT_NE(text(bits).find("there must be one bound; give a target of the outputs' ratio"),
            std::string::npos);
  bits.target_db = 30, bits.mean_bits = 6;
  EXPECT_NE(text(bits).find("there must be one bound"), std::string::npos);
  bits.target_db.reset(), bits.mean_bits = 3;
  EXPECT_NE(text(bits).find("no mix of these widths has 3 bits on average"), std::string::npos);
  bits.weight_bits = {8}, bits.mean_bits = 8;
  EXPECT_NE(text(bits).find("there is nothing to choose between"), std::string::npos);
  bits.weight_bits = {1, 9};
  EXPECT_NE(text(bits).find("weights of 1 bits are not possible"), std::string::npos);
  EXPECT_NE(text(bits).find("weights of 9 bits are not possible"), std::string::npos);
  QuantizeOptions powers;
  powers.scales = ScaleKind::kPowerOfTwo;
  EXPECT_NE(text({{4, 8}, false, {}, 6}, powers).find("constrain each other along the network"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
