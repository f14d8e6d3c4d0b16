// Where a program may lie in memory. The RTL ignores the low bits of its address and has no wires for
// addresses beyond dram_bytes; every engine refuses both, so a program means the same everywhere.
#pragma once

#include <cstdint>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

// `count` instructions from byte `address` on in a memory of `memory_bytes`. Errors (invalid input): they
// reach beyond it, are not aligned to their size, or are more than a run takes; the memory is larger than
// dram_bytes.
void verify_place(const OverlayHardware& hardware, uint64_t memory_bytes, uint64_t address, uint64_t count,
                  Diagnostics& diagnostics);

}  // namespace tilewright::overlay
