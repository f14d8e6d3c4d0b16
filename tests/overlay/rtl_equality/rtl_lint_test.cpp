// The RTL is clean under every warning of Verilator, for the parameter sets of the test program.
#include <gtest/gtest.h>

#include "parameter_sets.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::overlay {
namespace {

TEST(RtlLint, NoWarnings) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("rtl_lint_" + std::to_string(TILEWRIGHT_FIRST_SET));
  for (size_t set = TILEWRIGHT_FIRST_SET; set <= TILEWRIGHT_LAST_SET; ++set) {
    const OverlayHardware hardware = parameter_sets()[set];
    const auto sources = write_rtl(hardware, root, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl");
    EXPECT_EQ(synthesis::lint("tilewright_overlay", sources), "") << hardware.name;
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tilewright::overlay
