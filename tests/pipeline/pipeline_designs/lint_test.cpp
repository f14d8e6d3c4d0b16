// `verilator -Wall` has nothing to say about generated designs of either shape.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/pipeline/design/build.h"
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

}  // namespace
}  // namespace tilewright::pipeline
