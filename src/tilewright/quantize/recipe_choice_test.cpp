#include "tilewright/quantize/recipe_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/noise.h"

namespace tilewright {
namespace {

const QuantizeOptions kBest = [] {
  QuantizeOptions options;
  options.calibration.reset();
  return options;
}();

struct Measured {
  double median = 0, output = 0;
};

Measured measured(const Graph& graph, const std::vector<Tensor>& samples, const QuantizeOptions& options) {
  QuantizeReport report;
  const Graph quantized = quantize(graph, samples, options, &report);
  const NetworkNoise noise = NoiseMeter(graph, samples, 1).measure(quantized, report.factors);
  return {median_db(noise.values), least_db(noise.outputs)};
}

// What is written for the samples is never below plain min-max ranges on them, whatever the options.
TEST(RecipeChoice, IsNeverBelowMinMaxOnItsSamples) {
  int better = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    FloatGraph g = seed % 2 == 0 ? residual_network(seed) : separable_graph(seed);
    Shape shape = g.graph.value(g.graph.inputs[0]).shape;
    shape[0] = int64_t(seed);  // one sample, too
    Tensor samples = g.numbers(shape, -1, 1);
    // An outlier in one of them.
    samples.set_number(0, seed % 3 == 0 ? 20 : 1);
    QuantizeOptions options = kBest;
    options.weight_bits = seed % 4 == 0 ? 4 : 8;
    options.activation_bits = seed % 5 == 0 ? 5 : 8;
    options.scales = seed % 6 == 0 ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
    options.equalize = seed % 7 == 0;
    const Measured ours = measured(g.graph, {samples}, options);
    QuantizeOptions plain = options;
    plain.calibration = CalibrationMethod::kMinMax;
    plain.correct_bias = plain.reconstruct = plain.equalize = false;
    const Measured channels = measured(g.graph, {samples}, plain);
    plain.per_channel = false;
    const Measured tensor = measured(g.graph, {samples}, plain);
    const Measured& best = tensor.median > channels.median ? tensor : channels;
    EXPECT_GE(ours.median, best.median);
    EXPECT_GE(ours.output, best.output);
    better += ours.output > best.output;
  }
  EXPECT_GE(better, 6);
}

TEST(RecipeChoice, TellsWhatItTried) {
  FloatGraph g = residual_network();
  QuantizeReport report;
  quantize(g.graph, {g.numbers({6, 2, 8, 8}, -1, 1)}, kBest, &report);
  std::vector<std::string> names;
  int taken = 0;
  for (const QuantizeReport::Attempt& attempt : report.attempts) {
    names.push_back(attempt.recipe);
    taken += attempt.taken;
    if (attempt.taken) {
      EXPECT_EQ(attempt.recipe, recipe_name(report.recipe));
    }
    EXPECT_GT(attempt.median_db, 10);
  }
  const std::vector<std::string> first = {"min-max", "min-max, one scale per tensor", "min-max with bias",
                                          "squared-error with bias", "layer-error with bias"};
  ASSERT_EQ(names.size(), first.size() + 1);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), names.begin()));
  EXPECT_TRUE(names.back().ends_with("rounding")) << names.back();
  EXPECT_EQ(taken, 1);
}

TEST(RecipeChoice, NoNumberDependsOnThreads) {
  for (const QuantizeOptions& given : {QuantizeOptions{}, kBest}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      FloatGraph g = seed % 2 == 0 ? residual_network(seed) : separable_graph(seed);
      Shape shape = g.graph.value(g.graph.inputs[0]).shape;
      shape[0] = 7;
      const Tensor samples = g.numbers(shape, -1, 1);
      QuantizeOptions options = given;
      const Graph one = quantize(g.graph, {samples}, options);
      options.threads = 3;
      const Graph three = quantize(g.graph, {samples}, options);
      ASSERT_EQ(one.values.size(), three.values.size());
      for (size_t v = 0; v < one.values.size(); ++v) {
        if (!one.values[v].constant) continue;
        EXPECT_TRUE(one.values[v].constant->identical(*three.values[v].constant)) << one.values[v].name;
      }
    }
  }
}

// Corrections that are not allowed are not tried; one method alone tries nothing.
TEST(RecipeChoice, KeepsToWhatIsAllowed) {
  FloatGraph g = residual_network();
  const std::vector<Tensor> samples = {g.numbers({6, 2, 8, 8}, -1, 1)};
  QuantizeOptions options = kBest;
  options.correct_bias = options.reconstruct = false;
  options.per_channel = false;
  for (const QuantizeOptions& recipe : recipes(options)) {
    EXPECT_FALSE(recipe.correct_bias || recipe.reconstruct || recipe.equalize || recipe.per_channel);
    EXPECT_TRUE(recipe.calibration.has_value());
  }
  options.calibration = CalibrationMethod::kLayerError;
  QuantizeReport report;
  quantize(g.graph, samples, options, &report);
  EXPECT_TRUE(report.attempts.empty());
  EXPECT_EQ(recipe_name(report.recipe), "layer-error, one scale per tensor");
}

}  // namespace
}  // namespace tilewright
