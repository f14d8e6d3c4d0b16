// Random legal programs for differential tests and fuzzing: tokens never deadlock, every index is in range,
// the rest (padding, strides, aliasing destinations, overwrites, every ALU operation) is as random as the
// encoding allows.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

struct RandomProgram {
  std::vector<std::byte> dram;  // random data, then the program
  uint64_t address = 0, count = 0;
};

// `length` instructions with micro-ops in the first 64 slots, then stores that expose every bit of ACC, and
// FINISH.
RandomProgram random_program(const OverlayHardware& hardware, Random& random, int length);

// Shared by the random generators. Micro-ops out of `uops` and iterations of a GEMM or ALU, all factors 0:
// The last operation of the ALU, or one that the hardware's fields allow.
int64_t last_operation(const OverlayHardware& hardware);
// The immediate of an operation on rows: any number of lanes, any shift or fraction.
int32_t random_row_immediate(const OverlayHardware& hardware, Random& random);
LoopNest random_iterations(Random& random, int64_t uops);
// Factors of one index that add at most `room` to it.
void random_factors(Random& random, int64_t room, const LoopNest& loop, uint32_t& out, uint32_t& in);

// Overlays that differ in everything over which the simulator is generic.
std::vector<OverlayHardware> varied_overlays();

}  // namespace tilewright::overlay
