// How long GEMM and ALU instructions take: the closed forms of docs/design/overlay/overlay_rtl.md, "Compute".
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

// Iterations of the loop nest times micro-ops; 0 where it is empty.
uint64_t step_count(const LoopNest& loop);
// Cycles from the start of an instruction to its last one, which is start + this.
uint64_t gemm_duration(uint64_t steps);
// Of all operations but those of requantize_duration.
uint64_t alu_duration(AluOpcode opcode, const LoopNest& loop, uint64_t slices);
// The same for requantize and, `lookup`, the operations that look up, whose time depends on the indices: one
// pass over its steps. `tick`, if any, is called before each iteration and may throw.
uint64_t requantize_duration(const LoopNest& loop, std::span<const MicroOp> uops, uint64_t slices,
                             bool lookup = false, const std::function<void()>& tick = {});

}  // namespace tilewright::overlay
