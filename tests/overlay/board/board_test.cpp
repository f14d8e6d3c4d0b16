// The overlay for the iCE40 on its board, reached by the serial line alone: the RTL on every change, the
// netlist that Yosys makes of it (the one that is placed and packed) among the slow tests.
#include <gtest/gtest.h>

#include "board_run.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILEWRIGHT_SOURCE_DIR;

TEST(Board, SimulatorsAgreeWithPlainLoops) {
  const OverlayHardware hardware = ice40_hardware();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const BoardProgram program = tiled_convolution(hardware, seed);
    ASSERT_LE(program.memory.size(), kBoardMemoryBytes);
    const std::vector<std::byte> memory = simulated(hardware, program);
    const auto output = memory.begin() + int64_t(program.output_address);
    EXPECT_TRUE(std::equal(program.expected.begin(), program.expected.end(), output)) << "seed " << seed;
  }
}

TEST(Board, RtlRunsAConvolutionOverTheSerialLine) {
  const std::string missing = synthesis::missing_tools({"verilator", "g++"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const OverlayHardware hardware = ice40_hardware();
  const fs::path folder = fs::path(testing::TempDir()) / "board_rtl";
  BoardModel board(write_board_rtl(hardware, {kRoot / "rtl", folder}, true), kRoot / "rtl",
                   TILEWRIGHT_RTL_CACHE);
  for (const uint64_t seed : {1, 2}) EXPECT_TRUE(run_convolution(board, hardware, seed).identical) << seed;
  fs::remove_all(folder);
}

TEST(Board, WrongHardwareAndWrongProgramsAreNoticed) {
  const std::string missing = synthesis::missing_tools({"verilator", "g++"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  OverlayHardware hardware = ice40_hardware();
  const fs::path folder = fs::path(testing::TempDir()) / "board_errors";
  BoardModel board(write_board_rtl(hardware, {kRoot / "rtl", folder}, true), kRoot / "rtl",
                   TILEWRIGHT_RTL_CACHE);
  SerialBridge bridge(board);
  OverlayDriver driver(hardware, bridge);
  std::vector<std::byte> memory(64, std::byte{0xFF});  // no instruction is made of ones
  bridge.write_memory(128, memory);
  try {
    driver.run(128, 4);
    FAIL() << "an illegal instruction ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("instruction 0"), std::string::npos) << error.what();
  }
  hardware.block_in = 8;
  EXPECT_THROW(OverlayDriver(hardware, bridge), Error);
  EXPECT_TRUE(run_convolution(board, ice40_hardware(), 3).identical);  // as good as new
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright::overlay
