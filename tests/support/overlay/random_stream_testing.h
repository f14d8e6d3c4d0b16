// Random programs without data races: whatever two modules do to the same element is ordered by tokens, so
// every engine, with or without a notion of time, leaves the same memory. Each is accepted by the checker.
// Loads with every kind of padding, stride and alignment, loads of what was stored before, GEMM and ALU
// with every operation, aliasing destinations, micro-ops that are replaced, superfluous tokens.
#pragma once

#include <cstdint>

#include "support/overlay/random_program_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/referee/checker.h"

namespace tilewright::overlay {

// About `length` instructions, then stores that expose every bit of ACC, and FINISH. The memory has at most
// 512 KiB.
RandomProgram random_stream(const OverlayHardware& hardware, Random& random, int length);

// The checker's input for a program of random_stream.
ProgramImage random_stream_image(const OverlayHardware& hardware, const RandomProgram& program);

}  // namespace tilewright::overlay
