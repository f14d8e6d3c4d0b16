// Against the simulation of one stage alone, whose input the loader brings as fast as the port allows.
#include "tilewright/pipeline/estimate/image_pace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

TEST(ImagePace, OfOneStageIsThatOfItsSimulation) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(40); ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const int64_t channels = int64_t{1} << random.between(0, 4), window = random.between(1, 5),
                  stride = random.between(1, 2);
    const int64_t rows = random.between(window + 1, 24), outputs = int64_t{1} << random.between(0, 5);
    NetworkBuilder builder("one", {rows, random.between(window + 1, 14), channels}, uint64_t(i) + 1);
    const Network network = builder.finish(builder.convolution(0, outputs, window, stride));
    Allocation allocation;
    allocation.streaming = true;
    allocation.port_bytes = int64_t{1} << random.between(2, 5);
    allocation.tight_memory = random.chance(0.5);
    LayerAllocation own;
    own.layer = network.layers[0].name;
    own.stage.pi = int64_t{1} << random.between(0, int64_t(std::log2(channels)));
    own.stage.po = int64_t{1} << random.between(0, int64_t(std::log2(outputs)));
    own.stage.pf = own.stage.po;
    own.stage.feeder = random.chance(0.3) ? Feeder::kRowMajor : Feeder::kChannelMajor;
    allocation.layers.push_back(own);
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    const LayerGeometry g = layer_geometry(network, allocation, 0);
    if (!diagnostics.ok() || sweeps_twice(g)) continue;
    const MemoryPort port;
    const CycleEstimate estimate = streaming_cycles(network, allocation, port);
    SimulationOptions options;
    options.images = 6;
    const std::vector<uint64_t> ends = simulate(build(network, allocation), options).image_end;
    const double pace = double(ends[5] - ends[2]) / 3;
    EXPECT_NEAR(double(estimate.interval_cycles), pace, 0.05 * pace + 24)
        << print_allocation(allocation) << g.input.rows << " x " << g.input.columns << " x " << channels
        << " -> " << outputs << ", window " << window << ", stride " << stride;
  }
}

}  // namespace
}  // namespace tilewright::pipeline
