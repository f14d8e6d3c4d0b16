// Static checking of overlay programs: finds, without data, everything that would go wrong, or differ between
// implementations of the public instruction set. Micro-ops are followed through their loads, tokens through
// their channels, and every scratchpad element through vector clocks of the three modules, so that a missing
// token is found even where the program happens to compute the right answer.
//
// Errors: unknown codes, no or misplaced FINISH; accesses outside of a scratchpad, of the memory or of the
// micro-op image; micro-ops used before they are loaded; empty GEMM or ALU; deadlock, also with the
// hardware's command queues, or of 512 where they are longer; more than 255 tokens on a channel; tokens left
// at FINISH; a FINISH that does not wait for all stores; data races between modules on INP, WGT, ACC and
// DRAM; clip bounds in the wrong order. Warnings: reading scratchpad elements that nothing wrote; padding of
// a STORE; dependency bits without a neighbour; and with IsaVersion::kVta what is not portable: shift amounts
// outside of -16..15, mul, ACC_8BIT loads, padded WGT and UOP loads, UOP loads of several rows, zero-sized
// loads with padding, immediate ALU steps whose src is not their dst, a dst used again too soon, storing ACC
// elements that no GEMM or ALU wrote since they were loaded or reset.
//
// Each diagnostic names the instruction with its index and disassembly; of each kind the first ten are given,
// then the number of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/base/error.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/referee/raw_program.h"

namespace tilewright::overlay {

struct ProgramImage {
  std::span<const std::byte> instructions;
  std::span<const std::byte> uops;  // the contents of memory from uop_address on
  uint64_t uop_address = 0;
  uint64_t memory_bytes = 0;  // 0: unknown, accesses to DRAM are not checked
};

// Never throws for what the bytes contain. Time: linear in the micro-op iterations of the program.
void check_program(const OverlayHardware& hardware, const ProgramImage& program, Diagnostics& diagnostics,
                   Deadline* deadline = nullptr);
// Also reports (infeasible) when the deadline, which may be null, is over.
void check_program(const RawProgram& program, Diagnostics& diagnostics, Deadline* deadline = nullptr);

}  // namespace tilewright::overlay
