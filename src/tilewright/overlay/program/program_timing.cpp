// One run of the cycle simulator with execution switched off and a LayerTimer as its observer.
#include "tilewright/overlay/program/program_timing.h"

#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {

ProgramTiming time_program(OverlayProgram& program, const MemoryModel& memory, const Deadline* deadline) {
  CycleSimulator simulator(program.hardware, memory);
  if (program.setup_count > 0) simulator.run(program.memory, program.setup_address, program.setup_count);
  LayerTimer timer(program, deadline);
  CycleOptions options;
  options.observer = &timer;
  options.execute = false;
  ProgramTiming timing;
  timing.run = simulator.run(program.memory, program.instruction_address, program.instruction_count, options);
  timing.layers = timer.layers(timing.run.cycles.cycles);
  return timing;
}

}  // namespace tilewright::overlay
