// Cycles of random layers before there is a program, against the cycle simulator on the compiled program.
#include "tilewright/overlay/schedule/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "random_layer.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::random_layers {
namespace {

struct Errors {
  std::vector<double> values;
  void add(double predicted, double measured) { values.push_back(std::abs(predicted / measured - 1)); }
  double quantile(double q) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[size_t(q * double(sorted.size() - 1))];
  }
  void print(const char* what) const {
    std::printf("%s: %zu layers, off by %.2f %% (median), %.2f %% (nine of ten), %.2f %% (worst)\n", what,
                values.size(), 100 * quantile(0.5), 100 * quantile(0.9), 100 * quantile(1));
  }
};

TEST(Estimate, StandsAgainstTheCycleSimulatorOnRandomLayers) {
  Errors exact, roomy, cramped;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed * 7 + 1);
    std::string file;
    OverlayHardware hardware = pick_hardware(seed, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware", &file);
    hardware.memory_width_bits = 64 << random.between(0, 1);
    MemoryModel memory;
    memory.latency = uint32_t(random.between(4, 80));
    const Case c = make_case(seed, pick_kind(seed, hardware), hardware);
    const Node& node = c.graph.nodes.back();
    if (c.graph.nodes.size() != 1 || !overlay::supports(c.graph, node, hardware, nullptr)) continue;
    const overlay::OverlayLayer layer = overlay::extract_layer(c.graph, node, hardware);
    const overlay::Schedule schedule =
        random.chance(0.5)
            ? pick_schedule(seed, layer, hardware)
            : overlay::default_schedule(layer, hardware, {.memory = memory, .virtual_threads = 0});
    const NodeId nodes[] = {0};
    overlay::OverlayProgram program =
        overlay::compile_overlay(c.graph, nodes, hardware, {{node.name, schedule}});
    overlay::CycleSimulator simulator(hardware, memory);
    const auto timed = simulator.run(program.memory, program.instruction_address, program.instruction_count);
    const auto measured = double(timed.cycles.cycles);
    const overlay::OverlayLayer target = overlay::scheduled_layer(layer, schedule);
    const overlay::Tiling tiling(target, hardware, schedule);
    exact.add(double(overlay::layer_cycles(tiling, hardware, memory)), measured);
    const bool reloads = program.layers[0].uops > uint64_t(hardware.uop_depth());
    (reloads ? cramped : roomy).add(overlay::estimate_layer(tiling, hardware, memory).cycles, measured);
  }
  exact.print("trial run");
  roomy.print("estimate, micro-ops that fit their cache");
  cramped.print("estimate, more micro-ops than the cache has");
  EXPECT_GE(roomy.values.size(), 150u);
  // Bursts break at 4 KiB, and the buffers of the trial lie elsewhere.
  EXPECT_LE(exact.quantile(0.9), 0.002);
  EXPECT_LE(exact.quantile(1), 0.02);
  EXPECT_LE(roomy.quantile(0.5), 0.06);
  EXPECT_LE(roomy.quantile(0.9), 0.30);
}

}  // namespace
}  // namespace tilewright::random_layers
