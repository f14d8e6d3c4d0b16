// Parts without DSP blocks, or with few: every product can be made of tables, and a design of integers is
// refused for other reasons alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

// Convolutions, perhaps lanes, a sum, an average and a dense layer.
Network small_network(Random& random) {
  NetworkBuilder builder("small", {6, 6, random.between(1, 4)}, random.next(), true);
  const int64_t channels = 4 * random.between(1, 3);
  int tensor = builder.convolution(0, channels, 3);
  if (random.chance(0.5)) tensor = builder.depthwise(tensor, 3);
  if (random.chance(0.5)) tensor = builder.residual(builder.convolution(tensor, channels, 1), tensor);
  if (random.chance(0.5)) tensor = builder.average(tensor);
  if (random.chance(0.5)) tensor = builder.dense(tensor, random.between(2, 10));
  return builder.finish(tensor);
}

AllocateOptions quick_search() {
  AllocateOptions options;
  options.nodes = 200;
  options.evaluations = 500;
  return options;
}

TEST(FinishMultiplierClass, NoBlocksAreNoReasonToRefuse) {
  const uint64_t seed = test_seed();
  Random random(seed);
  constexpr synthesis::DeviceFamily kFamilies[] = {
      synthesis::DeviceFamily::kXc7, synthesis::DeviceFamily::kXcup, synthesis::DeviceFamily::kEcp5,
      synthesis::DeviceFamily::kIce40};
  for (int i = 0; i < 2; ++i) {
    const synthesis::DeviceFamily family = kFamilies[random.between(0, 3)];
    SCOPED_TRACE(fmt::format("seed {}, {}", seed, synthesis::family_name(family)));
    const Network network = small_network(random);
    Budget budget;
    budget.family = family;
    budget.resources = {200'000, 200'000, 0, 0, 500, 0};
    int64_t before = INT64_MAX;
    for (const int64_t blocks : {int64_t{0}, random.between(1, 3), int64_t{9}}) {
      budget.resources.dsp = blocks;
      const AllocationResult found = allocate(network, budget, Objective::kLatency, quick_search());
      EXPECT_LE(found.estimate.resources.dsp, blocks);
      EXPECT_LE(found.estimate.latency_cycles, before) << blocks << " blocks";
      before = found.estimate.latency_cycles;
      EXPECT_EQ(parse_allocation(print_allocation(found.allocation), "printed"), found.allocation);
      const SimulationResult run = simulate(build(network, found.allocation), {MemoryModel{}});
      const double error = double(found.estimate.latency_cycles) / double(run.cycles) - 1;
      EXPECT_LE(std::abs(error), 0.05) << found.estimate.latency_cycles << " for " << run.cycles;
    }
  }
}

TEST(FinishMultiplier, IsOfIntegersAndNothingElse) {
  Random random(1);
  const Network network = small_network(random);
  Budget budget;
  budget.resources = {200'000, 200'000, 0, 0, 500, 0};
  Allocation allocation = allocate(network, budget, Objective::kLatency, quick_search()).allocation;
  EXPECT_EQ(allocation.finish_multiplier, Multiplier::kLut);
  const auto problem = [&](const Network& of) {
    Diagnostics problems;
    allocation.verify(of, problems);
    return problems.ok() ? "" : to_string(problems.errors()[0]);
  };
  EXPECT_EQ(problem(network), "");
  allocation.finish_multiplier = Multiplier::kPair;
  EXPECT_NE(problem(network).find("finish_multiplier"), std::string::npos);
  allocation.finish_multiplier = Multiplier::kLut;
  Network fixed = network;
  fixed.number = NumberType::kFixed;
  EXPECT_NE(problem(fixed).find("is for integers"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::pipeline
