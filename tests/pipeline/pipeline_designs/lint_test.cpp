// `verilator -Wall` has nothing to say about generated designs of either shape.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

void expect_clean(const Design& design, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tilewright_lint_" + name);
  const auto sources = write_sources(design.netlist, design.images, folder,
                                     std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl");
  EXPECT_EQ(synthesis::lint(design.netlist.top, sources), "") << name;
  std::filesystem::remove_all(folder);
}

TEST(Lint, GeneratedDesignsAreClean) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Network network = random_network(seed);
    expect_clean(build(network, random_stages(network, seed)), "stages" + std::to_string(seed));
    expect_clean(build(network, random_processors(network, seed)), "processors" + std::to_string(seed));
  }
}

// Sums of few bits, which arrays cut to what the layer needs.
TEST(Lint, NarrowArraysOfEveryFormAreClean) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  NetworkBuilder builder("narrow", {4, 4, 4}, 1);
  Network network = builder.finish(builder.convolution(builder.convolution(0, 8, 3), 8, 1));
  network.tensors[1].bits = 4;
  network.layers[0].finish.clip_low = -8, network.layers[0].finish.clip_high = 7;
  network.layers[1].weight_bits = 3;
  for (int32_t& weight : network.layers[1].weights) weight %= 2;  // far fewer than the bits allow
  for (const Multiplier multiplier : kMultipliers) {
    Allocation stages;
    stages.streaming = true;
    stages.layers = {{"layer1", {4, 8, 1}}, {"layer2", {8, 8, 1, multiplier}}};
    expect_clean(build(network, stages), multiplier_text(multiplier));
  }
}

}  // namespace
}  // namespace tilewright::pipeline
