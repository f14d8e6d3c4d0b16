#include "tilewright/quantize/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {
namespace {

// The ratio of the outputs, from the definition.
double ratio(const Graph& exact, const Graph& other, const Tensor& samples) {
  const Executor first(exact), second(other);
  const SampleInputs inputs(exact, {samples});
  double signal = 0, noise = 0;
  for (int64_t run = 0; run < inputs.runs(); ++run) {
    const Tensor x = first.run(inputs.inputs(run))[0], y = second.run(inputs.inputs(run))[0];
    for (int64_t i = 0; i < x.size(); ++i) {
      signal += x.number_at(i) * x.number_at(i);
      noise += std::pow(x.number_at(i) - y.number_at(i), 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(NoiseMeter, MeasuresOutputsAndValuesOfSeveralGraphs) {
  FloatGraph g = residual_network();
  const Tensor samples = g.numbers({5, 2, 8, 8}, -1, 1);
  QuantizeOptions options;
  options.calibration = CalibrationMethod::kMinMax;
  NoiseMeter one(g.graph, {samples}, 1), three(g.graph, {samples}, 3);
  for (const int bits : {8, 4, 8}) {
    options.weight_bits = bits;
    const Graph quantized = quantize(g.graph, {samples}, options);
    const NetworkNoise noise = one.measure(quantized), again = three.measure(quantized);
    ASSERT_EQ(noise.outputs.size(), 1u);
    EXPECT_EQ(noise.outputs[0].value, "probabilities");
    EXPECT_NEAR(noise.outputs[0].sqnr_db, ratio(g.graph, quantized, samples), 1e-3);  // observed and not
    ASSERT_EQ(noise.values.size(), 5u);
    EXPECT_EQ(noise.values[0].value, "x");
    for (size_t i = 0; i < noise.values.size(); ++i)
      EXPECT_EQ(noise.values[i].sqnr_db, again.values[i].sqnr_db) << i;
    EXPECT_EQ(noise.outputs[0].sqnr_db, again.outputs[0].sqnr_db);
  }
}

TEST(NoiseMeter, MedianAndLeast) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(median_db({{"a", 3}, {"b", infinite}, {"c", 1}, {"d", 2}}), 2);
  EXPECT_EQ(least_db({{"a", 3}, {"b", infinite}, {"c", 1}}), 1);
  EXPECT_EQ(median_db({{"x", 9, 0, 0, true}, {"c", 1}}), 1);  // an input
  EXPECT_EQ(median_db({{"a", infinite}}), infinite);
  EXPECT_EQ(median_db({}), 0);
  EXPECT_EQ(least_db({}), 0);
}

// Every third run from the second on, two of them.
TEST(NoiseMeter, SamplesOfSomeRuns) {
  Graph graph;
  graph.inputs = {graph.add_value("x", ElementType::kF32, Shape{2, 1})};
  Tensor samples(ElementType::kF32, Shape{20, 1});
  for (int64_t i = 0; i < 20; ++i) samples.set_number(i, double(i));
  const Tensor some = sample_runs(graph, {samples}, 1, 3, 2)[0];
  ASSERT_EQ(some.shape(), (Shape{4, 1}));
  EXPECT_EQ(some.number_at(0), 2);
  EXPECT_EQ(some.number_at(1), 3);
  EXPECT_EQ(some.number_at(2), 8);
  EXPECT_EQ(sample_runs(graph, {samples}, 0, 1, 100)[0].shape(), samples.shape());
}

}  // namespace
}  // namespace tilewright
