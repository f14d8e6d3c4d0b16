// Two overlays, a wide and a plain one: streams and layers in all memories. The slow test does all overlays,
// the figure cycles_vs_rtl the numbers of the documentation.
#include <gtest/gtest.h>

#include "equality.h"
#include "parameter_sets.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

class RtlEquality : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"verilator"});
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_P(RtlEquality, StreamsAndLayers) {
  const OverlayHardware hardware = parameter_sets()[size_t(GetParam())];
  EqualityBench bench(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
  EqualitySummary summary;
  int layers = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    bench.compare(stream_program(hardware, seed), equality_memories(), summary);
    const EqualityProgram layer = layer_program(hardware, seed);
    if (layer.memory.empty()) continue;
    bench.compare(layer, equality_memories(), summary);
    ++layers;
  }
  EXPECT_TRUE(summary.equal()) << summary.first_problems;
  EXPECT_GE(summary.programs, 12);
  EXPECT_GT(summary.transactions, 1000u);
  std::printf("%s: %d layers, %lld runs, %llu cycles, %llu transactions\n", hardware.name.c_str(), layers,
              (long long)summary.runs, (unsigned long long)summary.cycles,
              (unsigned long long)summary.transactions);
}

INSTANTIATE_TEST_SUITE_P(Sets, RtlEquality, testing::Range(TILEWRIGHT_FIRST_SET, TILEWRIGHT_LAST_SET + 1));

}  // namespace
}  // namespace tilewright::overlay
