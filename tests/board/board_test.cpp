// The overlay for the iCE40 on its board, reached by the serial line alone: the RTL on every change, the
// netlist that Yosys makes of it (the one that is placed and packed) among the slow tests.
#include <gtest/gtest.h>

#include "convolution.h"
#include "tilewright/overlay/board_model.h"
#include "tilewright/overlay/functional_simulator.h"
#include "tilewright/overlay/overlay_synthesis.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILEWRIGHT_SOURCE_DIR;
constexpr size_t kMemoryBytes = 4096;

OverlayHardware ice40_hardware() { return find_overlay_hardware("overlay-ice40", kRoot / "hardware"); }

bool tools_there(std::initializer_list<const char*> tools, std::string& missing) {
  for (const char* tool : tools) {
    if (!synthesis::tool_installed(tool)) missing = std::string(tool) + ": " + synthesis::tool_package(tool);
  }
  return missing.empty();
}

std::vector<std::byte> simulated(const OverlayHardware& hardware, const BoardProgram& program) {
  std::vector<std::byte> memory = program.memory;
  memory.resize(kMemoryBytes);
  FunctionalSimulator(hardware).run(memory, program.instruction_address, program.instruction_count);
  return memory;
}

// Loads the program over the line, runs it, and compares all memory of the board.
void run_on(BoardModel& board, const OverlayHardware& hardware, uint64_t seed) {
  const BoardProgram program = tiled_convolution(hardware, seed);
  const std::vector<std::byte> expected = simulated(hardware, program);
  SerialBridge bridge(board);
  OverlayDriver driver(hardware, bridge);
  std::vector<std::byte> memory = program.memory;
  memory.resize(kMemoryBytes);
  bridge.write_memory(0, memory);
  const CycleCounters counters = driver.run(program.instruction_address, program.instruction_count);
  bridge.read_memory(0, memory);
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(board.complaint(), "");
  EXPECT_EQ(counters.compute_gemm + counters.compute_alu + counters.compute_load +
                counters.compute_token_load + counters.compute_token_store + counters.compute_starved,
            counters.cycles);
}

TEST(Board, SimulatorsAgreeWithPlainLoops) {
  const OverlayHardware hardware = ice40_hardware();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const BoardProgram program = tiled_convolution(hardware, seed);
    ASSERT_LE(program.memory.size(), kMemoryBytes);
    const std::vector<std::byte> memory = simulated(hardware, program);
    const auto output = memory.begin() + int64_t(program.output_address);
    EXPECT_TRUE(std::equal(program.expected.begin(), program.expected.end(), output)) << "seed " << seed;
  }
}

TEST(Board, RtlRunsAConvolutionOverTheSerialLine) {
  std::string missing;
  if (!tools_there({"verilator", "g++"}, missing)) GTEST_SKIP() << missing;
  const OverlayHardware hardware = ice40_hardware();
  const fs::path folder = fs::path(testing::TempDir()) / "board_rtl";
  BoardModel board(write_board_rtl(hardware, {kRoot / "rtl", folder}, true), kRoot / "rtl",
                   TILEWRIGHT_RTL_CACHE);
  run_on(board, hardware, 1);
  run_on(board, hardware, 2);
  fs::remove_all(folder);
}

TEST(Board, WrongHardwareAndWrongProgramsAreNoticed) {
  std::string missing;
  if (!tools_there({"verilator", "g++"}, missing)) GTEST_SKIP() << missing;
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
  run_on(board, ice40_hardware(), 3);  // and is as good as new
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright::overlay
