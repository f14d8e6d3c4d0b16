// A residual block, a depthwise, a transposed and a grouped layer in RTL, on the plain and the wide 16x16
// overlay. The figure cycles_vs_rtl runs the block at its size in ResNet-18.
#include <gtest/gtest.h>

#include "network_programs.h"
#include "tilewright/synthesis/tool.h"
#include "zoo/seeded.h"

namespace tilewright::overlay {
namespace {

class RtlNetworks : public testing::TestWithParam<const char*> {};

TEST_P(RtlNetworks, SmallCases) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  OverlayHardware hardware = find_overlay_hardware(GetParam(), TILEWRIGHT_SOURCE_DIR "/hardware");
  hardware.memory_width_bits = 128;
  EqualityBench bench(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
  EqualitySummary summary;
  for (const zoo::SmallCase& small : zoo::small_cases(14)) {
    for (const EqualityProgram& program : network_programs(small.name, small.graph, hardware)) {
      bench.compare(program, equality_memories(), summary);
    }
  }
  EXPECT_TRUE(summary.equal()) << summary.first_problems;
  EXPECT_GE(summary.programs, 4);
}

INSTANTIATE_TEST_SUITE_P(Hardware, RtlNetworks, testing::Values("vta-default", "overlay-16x16"));

}  // namespace
}  // namespace tilewright::overlay
