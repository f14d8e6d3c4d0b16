// Programs on a simulated board, against the functional simulator.
#pragma once

#include <cstddef>
#include <vector>

#include "convolution.h"
#include "support/overlay/board_model_testing.h"

namespace tilewright {

inline constexpr size_t kBoardMemoryBytes = 4096;

// The overlay that the iCE40 board carries.
OverlayHardware ice40_hardware();

// The memory of the board after `program`, by the functional simulator.
std::vector<std::byte> simulated(const OverlayHardware& hardware, const BoardProgram& program);

struct BoardRun {
  bool identical = false;  // all memory of the board, byte for byte
  uint64_t overlay_cycles = 0, board_cycles = 0;
};

// Loads tiled_convolution(seed) over the serial line, runs it, and reads all memory back. Errors: those of
// the driver; internal when the model complains or the hardware's counters do not add up.
BoardRun run_convolution(overlay::BoardModel& board, const OverlayHardware& hardware, uint64_t seed);

}  // namespace tilewright
