// Whole designs in Verilog, driven as a host program would: every result equals the network's own evaluation,
// and the cycle simulation takes exactly as long.
#include "tilewright/pipeline/simulate/driver.h"

#include <gtest/gtest.h>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

void expect_equal_runs(const Network& network, const Allocation& allocation) {
  const Design design = build(network, allocation);
  RtlPortOptions options;
  options.model = rtl_options();
  options.limit_cycles = 2'000'000;
  RtlDesignPort port(design, options);
  const auto images = random_images(network, 3, 5);
  for (uint64_t pause_seed : {0, 1}) {
    port.restart(pause_seed);
    const DesignRun run = run_design(design, port, images);
    ASSERT_EQ(run.outputs.size(), images.size());
    EXPECT_GT(run.cycles, 0u);
    EXPECT_EQ(simulate(design, {options.memory, pause_seed, int64_t(images.size())}).cycles, run.cycles)
        << "pause seed " << pause_seed;
    for (size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(run.outputs[i], evaluate(network, images[i])[size_t(network.output)]) << "image " << i;
    }
  }
}

TEST(Driver, StreamingDesignsComputeTheNetwork) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  for (uint64_t seed : {1}) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    expect_equal_runs(network, random_stages(network, seed));
  }
}

TEST(Driver, ProcessorDesignsComputeTheNetwork) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  for (uint64_t seed : {1}) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    expect_equal_runs(network, random_processors(network, seed));
  }
}

}  // namespace
}  // namespace tilewright::pipeline
