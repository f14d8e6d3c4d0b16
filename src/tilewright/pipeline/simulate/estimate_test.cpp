#include "tilewright/pipeline/estimate/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

constexpr synthesis::DeviceFamily kFamily = synthesis::DeviceFamily::kXc7;

// Cycles that the busiest array cannot go below.
int64_t least_cycles(const Network& network, const Allocation& allocation) {
  std::vector<int64_t> busy(network.layers.size() + allocation.engines.size(), 0);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerGeometry g = layer_geometry(network, allocation, i);
    const size_t place = allocation.streaming ? i : size_t(allocation.layers[i].engine);
    busy[place] += g.output.rows * g.output.columns * g.blocks * (g.row_major ? 1 : g.words);
  }
  return *std::max_element(busy.begin(), busy.end());
}

TEST(Estimate, IsNeverBelowTheWorkOfTheBusiestArray) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    for (const Allocation& a : {random_stages(network, seed), random_processors(network, seed)}) {
      const Estimate e = estimate(network, a, kFamily, {});
      // A stage may still work on rows that no later window needs when the image is done.
      EXPECT_GE(std::max(e.latency_cycles, e.interval_cycles), least_cycles(network, a));
      EXPECT_GT(e.interval_cycles, 0);
      ASSERT_EQ(e.layers.size(), network.layers.size());
      EXPECT_GT(e.resources.lut, 0);
      EXPECT_GT(e.resources.ff, 0);
      EXPECT_GT(e.multipliers, 0);
      EXPECT_GT(e.dram_bytes, 0);
    }
  }
}

TEST(Estimate, SlowMemoryNeverHelps) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Network network = random_network(seed);
    Allocation a = random_processors(network, seed);
    const int64_t fast = estimate(network, a, kFamily, {8, 100}).latency_cycles;
    const int64_t late = estimate(network, a, kFamily, {128, 100}).latency_cycles;
    const int64_t slow = estimate(network, a, kFamily, {128, 50}).latency_cycles;
    EXPECT_LT(fast, late) << seed;
    EXPECT_LE(late, slow) << seed;
  }
}

// Of `channels` inputs and outputs each; shapes alone.
Network two_dense_layers(int64_t channels) {
  NetworkBuilder builder("dense", {1, 1, channels}, 1, false);
  return builder.finish(builder.convolution(builder.convolution(0, channels, 1), channels, 1));
}

// One processor for both.
Allocation weights_from_memory() {
  Allocation a;
  a.engines = {{"mac", false, {16, 16, 16}}};
  a.tensor_unit = {0, 0, 0};
  a.layers = {{"layer1"}, {"layer2"}};
  a.weights_on_chip = false;
  a.ring_words = 64;
  a.port_bytes = 64;
  return a;
}

TEST(Estimate, WeightsFromMemoryTakeAtLeastTheirTransfer) {
  const Network network = two_dense_layers(512);
  const Allocation a = weights_from_memory();
  const Estimate e = estimate(network, a, kFamily, {128, 90});
  const int64_t bytes = 2 * 512 * 512;
  EXPECT_EQ(e.dram_bytes, bytes + 1024);
  EXPECT_GE(e.latency_cycles, bytes / 64 * 100 / 90);
  EXPECT_LE(e.latency_cycles, bytes / 64 * 100 / 85 + 600);
  EXPECT_STREQ(e.layers[1].bound, "weights");
}

// Of two layers of 48 x 48 channels the port brings 2 * 3 * 3 words of 4 beats; after every burst of 32
// beats it pauses.
TEST(Estimate, WaitsForWeightsAsLongAsTheirTransfer) {
  const Network network = two_dense_layers(48);
  Allocation a = weights_from_memory();
  a.max_burst_beats = 32;
  const Estimate full = estimate(network, a, kFamily, {32, 100});
  for (const int percent : {97, 93, 91, 87, 83, 79}) {
    const Estimate e = estimate(network, a, kFamily, {32, percent});
    const double pause = std::ceil(32.0 * (100 - percent) / percent), more = 36 * pause / 32;
    EXPECT_EQ(e.latency_cycles, std::llround(double(full.latency_cycles) + 2 * more));
    for (const LayerEstimate& layer : e.layers) {
      EXPECT_EQ(layer.fetch_cycles, std::llround(36 + more));
      EXPECT_EQ(layer.compute_cycles, 9);
    }
    // The first layer shares the port with the image.
    const LayerEstimate &last = e.layers[1], &before = full.layers[1];
    EXPECT_EQ(last.weight_cycles, std::llround(double(before.weight_cycles) + more));
    EXPECT_EQ(last.cycles, std::llround(double(before.cycles) + more));
  }
}

// Processors of random networks with weights on the chip and from memory, against the cycle simulation.
TEST(Estimate, OfProcessorsIsCloseToTheSimulation) {
  std::vector<double> errors;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    MemoryModel memory;
    memory.latency = uint32_t(8 << seed % 5);
    memory.efficiency_percent = seed % 3 == 0 ? 83 : 100;
    for (const bool streamed : {false, true}) {
      Allocation a = random_processors(network, seed);
      a.weights_on_chip = !streamed;
      a.port_bytes = streamed && seed % 2 == 0 ? 4 : a.port_bytes;
      for (a.ring_words = 32; streamed; a.ring_words *= 2) {
        Diagnostics diagnostics;
        a.verify(network, diagnostics);
        if (diagnostics.ok()) break;
        ASSERT_LT(a.ring_words, 1 << 20) << to_string(diagnostics.errors()[0]);
      }
      const double cycles = double(simulate(build(network, a), {memory}).cycles);
      const Estimate e =
          estimate(network, a, kFamily, {int64_t(memory.latency), int(memory.efficiency_percent)});
      errors.push_back(std::abs(double(e.latency_cycles) / cycles - 1));
      EXPECT_LE(errors.back(), 0.1);
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.015);
}

// Where the image or the result is what takes the time, the port's width decides; the estimate counts each
// of their words.
TEST(Estimate, ImagesPassThePortAtItsWidth) {
  for (const auto& [channels, results] : {std::pair<int64_t, int64_t>{4, 64}, {64, 4}}) {
    NetworkBuilder builder("port", {12, 12, channels}, 1, true);
    const Network network = builder.finish(builder.convolution(0, results, 1));
    Allocation a;
    a.engines = {{"mac", false, {16, 16, 16}}};
    a.tensor_unit = {0, 0};
    a.layers = {{"layer1"}};
    for (const int64_t bytes : {1, 2, 4, 16}) {
      a.port_bytes = bytes;
      const double cycles = double(simulate(build(network, a), {MemoryModel{}}).cycles);
      const double estimated = double(estimate(network, a, kFamily, {}).latency_cycles);
      EXPECT_NEAR(estimated / cycles, 1, 0.04) << channels << " to " << results << ", port of " << bytes;
    }
  }
}

// A layer of lanes that takes windows from rows waits for the rows that its stride passes over, whole or in
// bands.
TEST(Estimate, WindowsPassOverRows) {
  NetworkBuilder builder("stride", {24, 24, 16}, 1, true);
  const Network network = builder.finish(builder.depthwise(0, 3, 2));
  Allocation a;
  a.engines = {{"lanes", true, {16, 16, 16, Multiplier::kDsp, Feeder::kRowMajor}, 3, 3}};
  a.tensor_unit = {0, 0};
  for (const int64_t rows : {0, 6, 3, 2}) {
    a.layers = {{"layer1", {}, 0}};
    a.layers[0].band_rows = rows;
    const double cycles = double(simulate(build(network, a), {MemoryModel{}}).cycles);
    const double estimated = double(estimate(network, a, kFamily, {}).latency_cycles);
    EXPECT_NEAR(estimated / cycles, 1, 0.035) << "bands of " << rows;
  }
}

TEST(Estimate, BandsLetEnginesOverlap) {
  NetworkBuilder builder("overlap", {32, 32, 16}, 1, false);
  const Network network = builder.finish(builder.max_pool(builder.convolution(0, 16, 3), 2, 2));
  Allocation a;
  a.engines = {{"mac", false, {16, 16, 16}}, {"lanes", true, {16, 16, 16}}};
  a.tensor_unit = {0, 0, 0};
  a.layers = {{"layer1", {}, 0}, {"layer2", {}, 1}};
  const int64_t whole = estimate(network, a, kFamily, {}).latency_cycles;
  a.layers[0].band_rows = a.layers[1].band_rows = 4;
  const int64_t bands = estimate(network, a, kFamily, {}).latency_cycles;
  EXPECT_LT(bands, whole - 500);
}

TEST(Estimate, CountsMultipliers) {
  NetworkBuilder builder("count", {8, 8, 4}, 1, false);
  const Network network = builder.finish(builder.depthwise(builder.convolution(0, 8, 3), 3));
  Allocation a;
  a.streaming = true;
  a.layers = {{"layer1", {4, 4, 4}}, {"layer2", {8, 8, 8, Multiplier::kDsp, Feeder::kRowMajor}}};
  EXPECT_EQ(estimate(network, a, kFamily, {}).multipliers, 16 + 72);
}

}  // namespace
}  // namespace tilewright::pipeline
