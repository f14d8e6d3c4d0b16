// The driver of the overlay's hardware: registers only, as a program on a board would see them. The port
// behind it is a memory-mapped device or the RTL in simulation (rtl_model.h).
#pragma once

#include <cstdint>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/hardware/register_port.h"
#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright::overlay {

class OverlayDriver {
 public:
  // Compares the hardware behind `port` with `hardware`. Errors (invalid input): no overlay, or a different
  // one: every field that differs, with both values.
  OverlayDriver(const OverlayHardware& hardware, RegisterPort& port);

  // Runs `count` instructions that start at byte `address` and returns the counters. Errors: what the
  // hardware reports, naming the instruction (invalid input); no interrupt (infeasible).
  CycleCounters run(uint64_t address, uint64_t count);

  // The steps of it. Errors of launch (invalid input): those of verify_place (program_place.h).
  void launch(uint64_t address, uint64_t count);
  bool running();
  CycleCounters counters();
  // Throws the error that the STATUS register holds, if any.
  void raise_error();
  // Stops a run and clears the hardware; what is outstanding comes back first. Errors (infeasible): the run
  // does not end.
  void soft_reset();

 private:
  uint32_t read(const char* name);
  void write(const char* name, uint32_t value);

  const OverlayHardware hardware_;
  RegisterPort& port_;
};

}  // namespace tilewright::overlay
