// Checks where the program stands, lends the caller's memory to the AXI model and lets the driver start the
// overlay through its registers, as on a board.
#include "tilewright/overlay/rtl/rtl_simulator.h"

#include "tilewright/overlay/execute/program_place.h"

namespace tilewright::overlay {

RtlSimulator::RtlSimulator(const OverlayHardware& hardware, const MemoryModel& memory,
                           const RtlOptions& options)
    : hardware_(hardware), model_(hardware, memory, options), driver_(hardware, model_) {}

TimedRun RtlSimulator::run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                           const AxiMemoryOptions& options, Deadline* deadline) {
  Diagnostics diagnostics;
  verify_place(hardware_, dram.size(), address, count, diagnostics);
  diagnostics.raise_if_any();
  model_.memory().begin(dram, options);
  model_.end_at(deadline);
  TimedRun run;
  run.cycles = driver_.run(address, count);
  run.work.instructions = count;
  run.transactions = model_.memory().transactions();
  return run;
}

}  // namespace tilewright::overlay
