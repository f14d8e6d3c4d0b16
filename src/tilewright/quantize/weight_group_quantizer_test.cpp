// Networks with weights in groups: the rule holds for every weight that is written, by every method and
// correction, and the integers compute what the QDQ file means.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/error_text_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/weight_groups.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/mixed_precision.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {
namespace {

// x [1,5,24] -> MatMul -> Relu -> MatMul, rows of weights of different magnitudes.
FloatGraph dense_network(uint64_t seed) {
  FloatGraph g;
  g.random = Random(seed);
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 5, 24});
  const auto weights = [&](int64_t inputs, int64_t outputs) {
    Tensor tensor = g.numbers({inputs, outputs}, -0.4, 0.4);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set_number(i, tensor.number_at(i) * std::exp2(-double(i / outputs / 5 % 4)));
    return g.graph.add_constant("w", tensor);
  };
  const ValueId hidden = g.relu(g.node("MatMul", {x, weights(24, 37)}, {1, 5, 37}));
  g.graph.outputs = {g.node("MatMul", {hidden, weights(37, 6)}, {1, 5, 6})};
  return g;
}

struct GroupedNetwork {
  const char* name;
  FloatGraph (*graph)(uint64_t);
  Shape samples;
};

void PrintTo(const GroupedNetwork& network, std::ostream* out) { *out << network.name; }

const GroupedNetwork kGroupedNetworks[] = {
    {"separable", separable_graph, {8, 3, 12, 12}},
    {"residual", residual_network, {8, 2, 8, 8}},
    {"dense", dense_network, {8, 5, 24}},
};

// Layers whose weights are all of the form, of `bits` bits at most.
int layers_in_groups(const Graph& exact, const Graph& qdq, int64_t group_size, int bits) {
  int layers = 0;
  for (const Node& node : exact.nodes) {
    const LayerMatrix matrix = layer_matrix(exact, node);
    if (matrix.depth == 0) continue;
    const auto weights = std::ranges::find(qdq.nodes, node.name + "_weights_dequantize", &Node::name);
    if (weights == qdq.nodes.end()) continue;
    const Tensor integers = *qdq.constant_input(*weights, 0);
    const auto forms = forms_of_groups(integers.data<int8_t>(), matrix, group_size);
    layers += std::ranges::all_of(forms, [&](const GroupForm& form) { return form.bits <= bits; });
  }
  return layers;
}

class WeightGroupNetworks : public ::testing::TestWithParam<GroupedNetwork> {};

TEST_P(WeightGroupNetworks, EveryWrittenWeightHasItsForm) {
  const std::optional<CalibrationMethod> methods[] = {std::nullopt, CalibrationMethod::kMinMax,
                                                      CalibrationMethod::kSquaredError,
                                                      CalibrationMethod::kLayerError};
  Random random(test_seed());
  for (const auto& method : methods) {
    for (int corrections = 0; corrections < 8; corrections += method ? 1 : 7) {
      FloatGraph g = GetParam().graph(random.between(1, 1000));
      const std::vector<Tensor> samples = {g.numbers(GetParam().samples, -1, 1)};
      QuantizeOptions options;
      options.calibration = method;
      options.correct_bias = (corrections & 1) != 0;
      options.reconstruct = (corrections & 2) != 0;
      options.equalize = (corrections & 4) != 0;
      options.weight_bits = int(random.between(2, 7));
      options.weight_group = random.between(2, 20);
      options.per_channel = random.chance(0.8);
      if (random.chance(0.2)) options.scales = ScaleKind::kPowerOfTwo;
      SCOPED_TRACE(fmt::format("seed {}: corrections {}, {} bits, groups of {}", test_seed(), corrections,
                               options.weight_bits, options.weight_group));
      const Graph qdq = quantize(g.graph, samples, options);
      const int layers = int(std::ranges::count_if(
          g.graph.nodes, [&](const Node& node) { return layer_matrix(g.graph, node).depth > 0; }));
      EXPECT_EQ(layers_in_groups(g.graph, qdq, options.weight_group, options.weight_bits), layers);
      IntegerizeReport integers;
      const Graph integer = integerize(qdq, &integers);
      EXPECT_EQ(integers.integer_mac_share(), 1.0) << to_string(integers);
      // Ties apart, the integers compute what the QDQ file means.
      const NetworkNoise noise = NoiseMeter(qdq, samples, 1).measure(integer);
      for (const ValueNoise& output : noise.outputs) EXPECT_GT(output.sqnr_db, 25);
    }
  }
}

TEST_P(WeightGroupNetworks, LoseLessThanWholeChannels) {
  double with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    FloatGraph g = GetParam().graph(seed);
    const std::vector<Tensor> samples = {g.numbers(GetParam().samples, -1, 1)};
    QuantizeOptions options;
    options.weight_bits = 3;
    NoiseMeter meter(g.graph, {g.numbers(GetParam().samples, -1, 1)}, 1);
    without += least_db(meter.measure(quantize(g.graph, samples, options)).outputs);
    options.weight_group = 4;
    with += least_db(meter.measure(quantize(g.graph, samples, options)).outputs);
  }
  EXPECT_GT(with, without);
}

INSTANTIATE_TEST_SUITE_P(Quantize, WeightGroupNetworks, ::testing::ValuesIn(kGroupedNetworks),
                         [](const auto& test) { return std::string(test.param.name); });

// The factors of 4 bits have 5: 24 inputs are five groups of 5 for each of 37 outputs, 37 are eight for each
// of 6.
TEST(WeightGroupReport, CountsTheFactors) {
  FloatGraph g = dense_network(1);
  QuantizeOptions options;
  options.weight_bits = 4;
  QuantizeReport report;
  const std::vector<Tensor> samples = {g.numbers({8, 5, 24}, -1, 1)};
  quantize(g.graph, samples, options, &report);
  EXPECT_DOUBLE_EQ(report.weight_bits, 4);
  options.weight_group = 5;
  quantize(g.graph, samples, options, &report);
  const double weights = 24 * 37 + 37 * 6;
  EXPECT_DOUBLE_EQ(report.weight_bits, 4 + 5 * (5 * 37 + 8 * 6) / weights);
}

TEST(WeightGroupReport, GroupsOfNarrowLayersAlone) {
  FloatGraph g = dense_network(2);
  const std::vector<Tensor> samples = {g.numbers({8, 5, 24}, -1, 1)};
  QuantizeOptions options;
  options.weight_group = 8;
  options.layer_bits = {{g.graph.nodes[0].name, 4}};
  QuantizeReport report;
  quantize(g.graph, samples, options, &report);
  const double first = 24 * 37, second = 37 * 6;
  EXPECT_DOUBLE_EQ(report.weight_bits, (4 * first + 5 * 3 * 37 + 8 * second) / (first + second));
  MixedBits bits;
  bits.mean_bits = 6;
  const Graph qdq = quantize_mixed(g.graph, samples, options, bits, &report);
  EXPECT_GE(layers_in_groups(g.graph, qdq, 8, 4), 1);
  EXPECT_LE(report.weight_bits, 6 + 5.0 / 8 + 0.2);
}

TEST(WeightGroupRejects, GroupsThatAreNone) {
  const FloatGraph g = dense_network(1);
  const auto text = [&](int bits, int64_t group) {
    QuantizeOptions options;
    options.weight_bits = bits;
    options.weight_group = group;
    return error_text([&] { quantize(g.graph, {}, options); });
  };
  EXPECT_NE(text(4, 1).find("groups of 1 weights are not possible; choose 2 or more"), std::string::npos);
  EXPECT_NE(text(4, -32).find("groups of -32 weights are not possible"), std::string::npos);
  EXPECT_NE(text(8, 32).find("weights of 8 bits leave no room for the factors of groups; choose fewer bits"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
