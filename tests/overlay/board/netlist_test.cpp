// From the description to the bitstream, and the netlist that was placed and packed back in simulation: it
// has to run a convolution bit for bit through the pins of the board.
#include <gtest/gtest.h>

#include "board_run.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

TEST(BoardNetlist, IsPlacedInTimePackedAndBitExact) {
  const std::string missing =
      synthesis::missing_tools({"yosys", "nextpnr-ice40", "icepack", "verilator", "g++"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const fs::path root = TILEWRIGHT_SOURCE_DIR, folder = fs::path(testing::TempDir()) / "board_netlist";
  fs::remove_all(folder);
  const OverlayHardware hardware = ice40_hardware();
  const SynthesisReport report =
      synthesize(hardware, find_device("ice40-hx8k", root / "hardware" / "devices"), {root / "rtl", folder});
  EXPECT_TRUE(report.fits());
  EXPECT_TRUE(report.yosys.count.other.empty());
  EXPECT_EQ(report.clock_mhz, 12);
  EXPECT_TRUE(report.timing_met()) << to_string(report);
  EXPECT_GT(report.bitstream_bytes, 100000);
  EXPECT_TRUE(fs::exists(folder / "overlay.bin"));

  BoardModel board(ice40_netlist_sources(report.yosys.verilog), root / "rtl", TILEWRIGHT_RTL_CACHE);
  EXPECT_TRUE(run_convolution(board, hardware, 1).identical);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright::overlay
