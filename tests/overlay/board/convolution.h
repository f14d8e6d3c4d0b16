// A program small enough for a board without memory of its own, large enough for every block of the overlay:
// a 3x3 convolution with a border of zeros, in 2x2 tiles with two buffers each, plus a residual, shifted and
// clipped. The result is known without any simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {

struct BoardProgram {
  std::vector<std::byte> memory;  // data, micro-ops and instructions; outputs still zero
  uint64_t instruction_address = 0, instruction_count = 0;
  uint64_t output_address = 0;
  std::vector<std::byte> expected;  // what is at output_address afterwards
};

// For batch 1, equal blocks and the plain set. `seed` chooses image, weights and residual.
BoardProgram tiled_convolution(const OverlayHardware& hardware, uint64_t seed);

}  // namespace tilewright
