// Estimates of what the search chooses: stages that keep pace with each other, where one that rests between
// its rows is felt by all behind it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

// As MobileNet: depthwise layers, every second or third with a stride, and 1x1 layers between them; perhaps
// results of several bursts.
Network depthwise_chain(Random& random) {
  NetworkBuilder builder("chain", {32, 32, 3}, random.next(), true);
  int64_t channels = 8;
  int tensor = builder.convolution(0, channels, 3, random.between(1, 2));
  for (int pairs = int(random.between(3, 5)); pairs > 0; --pairs) {
    const int64_t stride = builder.shape(tensor).rows >= 4 && random.chance(0.5) ? 2 : 1;
    channels = std::min<int64_t>(64, channels * stride);
    tensor = builder.convolution(builder.depthwise(tensor, 3, stride), channels, 1);
  }
  if (random.chance(0.5)) tensor = builder.dense(builder.average(tensor), 128 * random.between(1, 6));
  return builder.finish(tensor);
}

TEST(ChosenEstimatesClass, AreCloseToTheSimulation) {
  const uint64_t seed = test_seed();
  Random random(seed);
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, network {}", seed, i));
    const Network network = depthwise_chain(random);
    Budget budget;
    budget.resources = {53200, 106400, 0, 220, 280, 0};
    budget.multipliers = int64_t{32} << random.between(0, 3);
    AllocateOptions options;
    options.processors = false;
    options.nodes = 200;
    options.evaluations = 1'000;
    const AllocationResult found = allocate(network, budget, Objective::kLatency, options);
    const SimulationResult run = simulate(build(network, found.allocation), {MemoryModel{}});
    const double error = double(found.estimate.latency_cycles) / double(run.cycles) - 1;
    EXPECT_LE(std::abs(error), 0.05) << found.estimate.latency_cycles << " for " << run.cycles;
  }
}

}  // namespace
}  // namespace tilewright::pipeline
