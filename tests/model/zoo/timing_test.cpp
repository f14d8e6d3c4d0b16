// The cycles of real networks, cut into layers: nothing is lost, and the work is what the simulator counted.
#include <gtest/gtest.h>

#include <numeric>

#include "tilewright/flow/time/network_timing.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

void expect_whole(const NetworkTiming& timing) {
  uint64_t cycles = 0, input = 0, weight = 0, parameter = 0, uop = 0, output = 0, gemm = 0, alu = 0;
  uint64_t instructions = 0, gemm_busy = 0, alu_busy = 0, parameters_busy = 0;
  for (const overlay::TimedRun& run : timing.programs) {
    cycles += run.cycles.cycles;
    input += run.work.input_load_bytes, weight += run.work.weight_load_bytes;
    parameter += run.work.accumulator_load_bytes, uop += run.work.uop_load_bytes;
    output += run.work.output_store_bytes;
    gemm += run.work.gemm_uops, alu += run.work.alu_uops, instructions += run.work.instructions;
    gemm_busy += run.cycles.compute_gemm, alu_busy += run.cycles.compute_alu;
    parameters_busy += run.cycles.compute_load;
  }
  const overlay::LayerTraffic traffic = timing.traffic();
  EXPECT_EQ(timing.cycles(), cycles);
  EXPECT_EQ(traffic.input_bytes, input);
  EXPECT_EQ(traffic.weight_bytes, weight);
  EXPECT_EQ(traffic.parameter_bytes, parameter);
  EXPECT_EQ(traffic.uop_bytes, uop);
  EXPECT_EQ(traffic.output_bytes, output);
  for (const overlay::LayerTiming& layer : timing.layers) {
    const uint64_t caused = std::accumulate(layer.caused.begin(), layer.caused.end(), uint64_t{0});
    EXPECT_EQ(caused, layer.cycles()) << layer.name;
    EXPECT_GT(layer.cycles(), 0u) << layer.name;
    EXPECT_LE(timing.limits.roofline_cycles(layer.macs, layer.traffic), double(layer.cycles())) << layer.name;
    // A cause of compute holds no more cycles than compute spent on it, but for hand-overs.
    EXPECT_LE(layer.caused[size_t(overlay::CycleCause::kGemm)], layer.gemm_busy + 8) << layer.name;
    gemm -= layer.gemm_uops, alu -= layer.alu_uops, instructions -= layer.instructions;
    gemm_busy -= layer.gemm_busy, alu_busy -= layer.alu_busy, parameters_busy -= layer.parameters_busy;
  }
  EXPECT_EQ(gemm, 0u);
  EXPECT_EQ(alu, 0u);
  EXPECT_EQ(instructions, 0u);
  EXPECT_EQ(gemm_busy, 0u);
  EXPECT_EQ(alu_busy, 0u);
  EXPECT_EQ(parameters_busy, 0u);
}

TEST(ZooTiming, LayersHoldEveryCycleAndByteOfTheRun) {
  const char* const kHardware[] = {"vta-default", "overlay-16x16", "overlay-8x8", "with two banks"};
  for (size_t h = 0; h < std::size(kHardware); ++h) {
    const char* const hardware_name = kHardware[h];
    const bool two_banks = std::string(hardware_name) == "with two banks";
    OverlayHardware hardware = find_overlay_hardware(two_banks ? "overlay-16x16" : hardware_name,
                                                     std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
    hardware.gemm_beside_alu = two_banks;
    // Every network on two of the four.
    for (size_t n = 0; n < networks().size(); ++n) {
      if (n % 2 != h % 2) continue;
      const Network& network = networks()[n];
      const Bundle bundle = seeded_compilation(network.build(network.small), hardware).bundle;
      for (const char* memory : {"ideal", "fixed", "ddr"}) {
        SCOPED_TRACE(std::string(network.name) + " on " + hardware_name + " with " + memory);
        expect_whole(time_network(bundle, find_memory_model(memory)));
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::zoo
