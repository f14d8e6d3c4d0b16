// Random float networks through the whole path: quantised, lowered to integers, and run three ways. The
// integer network must compute what the QDQ graph computes, and both come close to the float network.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "model_data.h"
#include "support/transform/random_graph_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// sum (a - b)^2 / sum a^2 over all outputs.
double relative_noise(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double signal = 1e-12, noise = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (int64_t e = 0; e < a[i].size(); ++e) {
      const double x = a[i].number_at(e), error = x - b[i].number_at(e);
      signal += x * x;
      noise += error * error;
    }
  }
  return noise / signal;
}

void expect_valid(const Graph& graph) {
  Diagnostics problems;
  verify(graph, problems);
  ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
}

TEST(RandomNetworks, IntegersFollowTheQdqGraph) {
  constexpr uint64_t kSeed = 70000;
  constexpr int kNetworks = 150;
  int64_t macs = 0, integer_macs = 0;
  std::map<std::string, int> reasons;
  std::vector<double> to_qdq, to_float;
  for (uint64_t seed = kSeed; seed < kSeed + kNetworks; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const bool optimised = seed % 3 != 0;
    Graph graph = random_graph(seed);
    if (optimised) graph = optimize(std::move(graph));
    QuantizeOptions options;
    options.scales = seed % 2 == 0 ? ScaleKind::kReal : ScaleKind::kPowerOfTwo;
    options.per_channel = seed % 5 != 0;
    options.symmetric_activations = seed % 7 == 0;
    const Shape shape = graph.value(graph.inputs[0]).shape;
    const Graph qdq = quantize(graph, {uniform_samples(shape, 8, -1, 1, seed)}, options);
    IntegerizeReport report;
    const Graph integer = integerize(qdq, &report);
    expect_valid(qdq);
    expect_valid(integer);
    macs += report.total_macs();
    integer_macs += report.integer_macs();
    for (const IntegerizeRecord& record : report.records) {
      if (record.integer_op.empty() && record.macs > 0) ++reasons[record.op + ": " + record.reason];
    }
    const Tensor x = uniform_samples(shape, 1, -1, 1, seed + 1);
    const std::vector<Tensor> in_float = run(graph, {x}), in_qdq = run(qdq, {x}),
                              in_integers = run(integer, {x});
    to_qdq.push_back(relative_noise(in_qdq, in_integers));
    to_float.push_back(relative_noise(in_float, in_integers));
    // With powers of two, exact ties are frequent: half up here, half to even there.
    EXPECT_LT(to_qdq.back(), options.scales == ScaleKind::kReal ? 1e-3 : 5e-3);
    EXPECT_LT(to_float.back(), 0.02);
  }
  std::sort(to_qdq.begin(), to_qdq.end());
  std::sort(to_float.begin(), to_float.end());
  std::cout << kNetworks << " networks, " << 100.0 * double(integer_macs) / double(macs)
            << "% of the MACs integer; relative noise to the QDQ graph: median " << to_qdq[kNetworks / 2]
            << ", largest " << to_qdq.back() << "; to float: median " << to_float[kNetworks / 2]
            << ", largest " << to_float.back() << "\n";
  for (const auto& [reason, count] : reasons) std::cout << count << " x " << reason << "\n";
  EXPECT_EQ(to_qdq[kNetworks / 2], 0.0);
  EXPECT_GE(double(integer_macs), 0.99 * double(macs));
}

// What the command writes is at least as close to the float network on its samples as plain min-max ranges
// with the better of one weight scale per channel and one per tensor.
TEST(RandomNetworks, TheBestRecipeIsNeverBelowMinMaxOnItsSamples) {
  constexpr uint64_t kSeed = 80000;
  constexpr int kNetworks = 24;
  int better = 0;
  for (uint64_t seed = kSeed; seed < kSeed + kNetworks; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = optimize(random_graph(seed));
    const std::vector<Tensor> samples = {
        uniform_samples(graph.value(graph.inputs[0]).shape, 1 + int64_t(seed % 9), -1, 1, seed)};
    QuantizeOptions options;
    options.scales = seed % 3 == 0 ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
    options.weight_bits = seed % 4 == 0 ? 5 : 8;
    NoiseMeter meter(graph, samples, 1);
    const auto ratios = [&](const QuantizeOptions& chosen) {
      const NetworkNoise noise = meter.measure(quantize(graph, samples, chosen));
      return std::pair{median_db(noise.values), least_db(noise.outputs)};
    };
    options.calibration.reset();
    const auto ours = ratios(options);
    options.calibration = CalibrationMethod::kMinMax;
    options.correct_bias = options.reconstruct = false;
    const auto channels = ratios(options);
    options.per_channel = false;
    const auto tensor = ratios(options), plain = tensor.first > channels.first ? tensor : channels;
    EXPECT_GE(ours.first, plain.first);
    EXPECT_GE(ours.second, plain.second);
    better += ours.second > plain.second;
  }
  EXPECT_GE(better, kNetworks / 5);
}

// Any mix of widths is integer arithmetic: layers of 2 to 8 bits side by side, exact as the reference has it.
TEST(RandomNetworks, MixedWidthsAreIntegers) {
  for (uint64_t seed = 90000; seed < 90020; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = optimize(random_graph(seed));
    QuantizeOptions options;
    Random random(seed);
    for (const Node& node : graph.nodes) {
      const Tensor* weights = graph.constant_input(node, 1);
      if ((node.is("Conv") || node.is("Gemm")) && weights && weights->shape().rank() >= 2)
        options.layer_bits[node.name] = int(random.between(2, 8));
    }
    const Shape shape = graph.value(graph.inputs[0]).shape;
    const Graph qdq = quantize(graph, {uniform_samples(shape, 4, -1, 1, seed)}, options);
    IntegerizeReport report;
    const Graph integer = integerize(qdq, &report);
    expect_valid(integer);
    EXPECT_GE(report.integer_mac_share(), 0.99) << to_string(report);
    const Tensor x = uniform_samples(shape, 1, -1, 1, seed + 1);
    // One result on the other side of a rounding boundary counts more where weights have few bits.
    EXPECT_LT(relative_noise(run(qdq, {x}), run(integer, {x})), 5e-3);
  }
}

}  // namespace
}  // namespace tilewright
