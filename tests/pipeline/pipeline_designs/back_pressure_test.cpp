// A small residual network in both shapes behind memories that pause at random: no bit changes, nothing
// hangs, and the cycle simulation takes exactly as long as the Verilog. 1,000 seeds in the slow test.
#include <gtest/gtest.h>

#include "support/pipeline/network_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/driver.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"

namespace tilewright::pipeline {
namespace {

Network small_network() {
  NetworkBuilder builder("small", {6, 6, 4});
  const int first = builder.convolution(0, 8, 3);
  const int deep = builder.convolution(builder.depthwise(first, 3), 8, 1);
  const int sum = builder.residual(deep, first);
  const int pooled = builder.max_pool(sum, 2, 2);
  return builder.finish(builder.dense(pooled, 10));
}

Allocation stages(const Network& network) {
  Allocation a;
  a.streaming = true;
  for (const Layer& layer : network.layers) {
    LayerAllocation own;
    own.layer = layer.name;
    own.stage.pi = 2;
    own.stage.po = 2;
    own.stage.pf = 1;
    a.layers.push_back(own);
  }
  size_fifos(network, a);
  return a;
}

// Weights from DRAM, so that every kind of port is paused.
Allocation processors(const Network& network) {
  Allocation a;
  a.engines = {{"array", false, {4, 8, 4}}, {"lanes", true, {4, 4, 2}}};
  a.units = 2;
  a.weights_on_chip = false;
  a.weight_channels = 2;
  a.ring_words = 64;
  a.tensor_unit.assign(network.tensors.size(), 0);
  for (const Layer& layer : network.layers) {
    LayerAllocation own;
    own.layer = layer.name;
    own.engine = layer.kind == LayerKind::kConvolution ? 0 : 1;
    own.band_rows = network.tensors[size_t(layer.output)].shape.rows > 2 ? 2 : 0;
    a.layers.push_back(own);
    a.tensor_unit[size_t(layer.output)] = 1 - a.tensor_unit[size_t(layer.input)];
  }
  return a;
}

void expect_same_under_pauses(const Network& network, const Allocation& allocation) {
  const Design design = build(network, allocation);
  RtlPortOptions options;
  options.model = rtl_options();
  options.limit_cycles = 1'000'000;
  RtlDesignPort port(design, options);
  Random random(3);
  std::vector<std::vector<int32_t>> images(2, std::vector<int32_t>(6 * 6 * 4));
  for (auto& image : images) {
    for (int32_t& value : image) value = int32_t(random.between(-128, 127));
  }
  std::vector<std::vector<int32_t>> expected;
  for (const auto& image : images) expected.push_back(evaluate(network, image)[size_t(network.output)]);
  for (uint64_t seed = 1; seed <= TILEWRIGHT_PAUSE_SEEDS; ++seed) {
    port.restart(seed);
    const DesignRun run = run_design(design, port, images);
    ASSERT_EQ(run.outputs, expected) << "seed " << seed;
    const SimulationResult simulated = simulate(design, {options.memory, seed, int64_t(images.size())});
    ASSERT_EQ(simulated.cycles, run.cycles) << "seed " << seed;
  }
}

TEST(BackPressure, StagesKeepEveryBit) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const Network network = small_network();
  expect_same_under_pauses(network, stages(network));
}

TEST(BackPressure, ProcessorsKeepEveryBit) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const Network network = small_network();
  expect_same_under_pauses(network, processors(network));
}

}  // namespace
}  // namespace tilewright::pipeline
