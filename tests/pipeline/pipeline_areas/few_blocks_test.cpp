// Designs for iCE40 parts, which have neither memories of tables nor, most of them, DSP blocks: Yosys makes
// what the estimates say of them, and the blocks are those of the part.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

Network tiny_network(Random& random) {
  NetworkBuilder builder("tiny", {5, 5, random.between(1, 2)}, random.next(), true);
  int tensor = builder.convolution(0, 8 * random.between(1, 2), 3);
  if (random.chance(0.5))
    tensor = random.chance(0.5) ? builder.depthwise(tensor, 3) : builder.dense(tensor, 10);
  Network network = builder.finish(tensor);
  // A factor that all channels have would be wires.
  for (Layer& layer : network.layers) {
    for (Requantization& scale : layer.finish.scale)
      scale = {int32_t(random.between(1 << 30, INT32_MAX)), int(random.between(36, 40))};
  }
  return network;
}

TEST(FewBlocksClass, DesignsAreSynthesisedAndFit) {
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  const uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (const char* name : {"ice40-hx8k", "ice40-up5k"}) {
    SCOPED_TRACE(name);
    const Device device =
        find_device(name, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware/devices");
    const Network network = tiny_network(random);
    std::optional<AllocationResult> found;
    try {
      found = allocate(network, device_budget(device), Objective::kLatency);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
      continue;  // too small a part
    }
    const synthesis::Resources& need = found->estimate.resources;
    const TemporaryFolder folder(testing::TempDir(), "few_blocks");
    DesignSynthesisOptions options;
    options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
    options.folder = folder.path();
    options.family = device.family;
    options.use_dsp = device.has.dsp > 0;
    const synthesis::Resources counted =
        count_resources(build(network, found->allocation), options).resources;
    EXPECT_LE(counted.dsp, device.has.dsp);
    EXPECT_LE(counted.bram, device.has.bram);
    EXPECT_EQ(counted.dsp, need.dsp);
    EXPECT_LE(counted.bram, need.bram);
    // Bits that all factors of a layer have in common leave less.
    EXPECT_LE(double(counted.lut), 1.15 * double(need.lut));
    EXPECT_GE(double(counted.lut), 0.65 * double(need.lut));
    EXPECT_LE(double(counted.ff), 1.15 * double(need.ff));
  }
}

}  // namespace
}  // namespace tilewright::pipeline
