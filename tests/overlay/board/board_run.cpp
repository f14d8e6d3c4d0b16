#include "board_run.h"

#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright {

OverlayHardware ice40_hardware() {
  return find_overlay_hardware("overlay-ice40", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
}

std::vector<std::byte> simulated(const OverlayHardware& hardware, const BoardProgram& program) {
  std::vector<std::byte> memory = program.memory;
  memory.resize(kBoardMemoryBytes);
  overlay::FunctionalSimulator(hardware).run(memory, program.instruction_address, program.instruction_count);
  return memory;
}

BoardRun run_convolution(overlay::BoardModel& board, const OverlayHardware& hardware, uint64_t seed) {
  const BoardProgram program = tiled_convolution(hardware, seed);
  const std::vector<std::byte> expected = simulated(hardware, program);
  const uint64_t begin = board.cycles();
  overlay::SerialBridge bridge(board);
  overlay::OverlayDriver driver(hardware, bridge);
  std::vector<std::byte> memory = program.memory;
  memory.resize(kBoardMemoryBytes);
  bridge.write_memory(0, memory);
  const overlay::CycleCounters counters = driver.run(program.instruction_address, program.instruction_count);
  bridge.read_memory(0, memory);
  TILEWRIGHT_CHECK(board.complaint().empty(), board.complaint());
  TILEWRIGHT_CHECK(counters.load_busy + counters.load_token + counters.load_starved == counters.cycles &&
                       counters.store_busy + counters.store_token + counters.store_starved == counters.cycles,
                   "the counters of the hardware do not add up");
  return {memory == expected, counters.cycles, board.cycles() - begin};
}

}  // namespace tilewright
