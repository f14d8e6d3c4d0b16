// The third engine: the RTL itself, with the interface of the other two. Memory afterwards and TimedRun equal
// those of the cycle simulator.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/overlay/rtl/rtl_model.h"

namespace tilewright::overlay {

class RtlSimulator {
 public:
  // Errors: those of OverlayRtlModel and OverlayDriver.
  RtlSimulator(const OverlayHardware& hardware, const MemoryModel& memory, const RtlOptions& options);

  // As CycleSimulator::run. Of RunCounters, the hardware knows the number of instructions only. Errors
  // (invalid input): those of verify_place; what the hardware reports, naming the instruction.
  // Errors (infeasible): `deadline` (may be null) is over.
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count,
               const AxiMemoryOptions& options = {}, Deadline* deadline = nullptr);

  OverlayRtlModel& model() { return model_; }
  OverlayDriver& driver() { return driver_; }

 private:
  OverlayHardware hardware_;
  OverlayRtlModel model_;
  OverlayDriver driver_;
};

}  // namespace tilewright::overlay
