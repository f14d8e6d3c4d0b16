// The third engine: the RTL itself, with the interface of the other two. Memory afterwards and TimedRun equal
// those of the cycle simulator.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/overlay/rtl_model.h"

namespace tilewright::overlay {

class RtlSimulator {
 public:
  // Errors: those of RtlModel and OverlayDriver.
  RtlSimulator(const OverlayHardware& hardware, const MemoryModel& memory, const RtlOptions& options);

  // As CycleSimulator::run. Of RunCounters, the hardware knows the number of instructions only. Errors
  // (invalid input): what the hardware reports, naming the instruction; a program longer than the memory.
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count,
               const AxiMemoryOptions& options = {});

  RtlModel& model() { return model_; }
  OverlayDriver& driver() { return driver_; }

 private:
  uint64_t instruction_bytes_, address_limit_;
  RtlModel model_;
  OverlayDriver driver_;
};

}  // namespace tilewright::overlay
