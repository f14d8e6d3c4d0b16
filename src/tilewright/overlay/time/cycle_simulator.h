// The cycle simulator: executes instruction bytes out of simulated DRAM as the functional simulator does, and
// gives every instruction the cycles it takes in the RTL (rtl/overlay), exactly. Event-driven: the pipelines
// of compute are closed forms of an instruction's sizes, memory traffic advances burst by burst. The rules
// are those of docs/design/overlay/overlay_rtl.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/time/cycle_counters.h"
#include "tilewright/overlay/time/cycle_observer.h"

namespace tilewright::overlay {

struct CycleOptions {
  bool record_transactions = false;
  CycleObserver* observer = nullptr;  // called while the run goes on; for traces and explanations
  // false: time and counters only. Micro-ops are loaded; INP, WGT, ACC and the memory stay as they are.
  bool execute = true;
  Deadline* deadline = nullptr;  // may be null; instructions start as long as it is not over
};

// Scratchpads persist between runs of one simulator, time starts at 0 in each.
class CycleSimulator {
 public:
  // Errors (invalid input): a memory model that breaks its rules, hardware without a simulator.
  CycleSimulator(OverlayHardware hardware, MemoryModel memory,
                 SimulatorKernel kernel = SimulatorKernel::kAuto);
  ~CycleSimulator();

  // Runs `count` instructions that start at byte `address` of `dram`, until FINISH. For a program that the
  // checker accepts, memory and work counters afterwards equal those of the functional simulator.
  // Errors (invalid input): those of the functional simulator, naming the same instruction; a deadlock also
  // where only the finite queues cause it; the 256th token on a channel. Errors (infeasible): the deadline is
  // over.
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count, const CycleOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::overlay
