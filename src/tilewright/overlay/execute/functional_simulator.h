// The functional simulator: executes instruction bytes out of simulated DRAM, bit-exact, without a notion of
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {
class Deadline;
}

namespace tilewright::overlay {

// Which kernels execute GEMM and ALU; all give the same bits.
enum class SimulatorKernel { kAuto, kScalar, kAvx2, kAvx512Vnni };

struct RunCounters {
  uint64_t instructions = 0;
  uint64_t uop_load_bytes = 0, input_load_bytes = 0, weight_load_bytes = 0, accumulator_load_bytes = 0;
  uint64_t output_store_bytes = 0;
  uint64_t gemm_uops = 0;  // executed GEMM micro-op iterations, reset ones excluded
  uint64_t gemm_reset_uops = 0;
  uint64_t alu_uops = 0;  // executed ALU micro-op iterations
  uint64_t alu_lanes = 0;
};

// Scratchpads persist between runs of one simulator, as they do in hardware.
class FunctionalSimulator {
 public:
  explicit FunctionalSimulator(OverlayHardware hardware, SimulatorKernel kernel = SimulatorKernel::kAuto);
  ~FunctionalSimulator();

  // Order: load runs as far as its tokens allow, then compute, then store, and again until all queues are
  // empty.
  //
  // Runs `count` instructions that start at byte `address` of `dram`, until FINISH. All base registers are 0.
  // Errors (invalid input): those of verify_place (program_place.h); each naming the instruction: out of
  // range access to DRAM or a scratchpad, illegal opcode, no FINISH, and deadlock: every queue waits (the
  // message names the waiting queue, token channel and instruction); detected at once, never by a timeout.
  // Errors (infeasible): `deadline` (may be null) is over.
  RunCounters run(std::span<std::byte> dram, uint64_t address, uint64_t count, Deadline* deadline = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::overlay
