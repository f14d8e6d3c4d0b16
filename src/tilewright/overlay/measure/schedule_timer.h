// Times schedules quickly, one after the other: tuning measures thousands of them.
//
// A trial lowers the schedule with the compiler's own lowering, but to times instead of instruction bytes
// (timed_program.h), and runs the cycle simulator's own events on them (cycle_engine.h). So the result is
// that of the cycle simulator on the compiled program by construction; docs/design/tune/trials.md states the
// cost.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/tiling.h"
#include "tilewright/overlay/time/timed_program.h"
#include "tilewright/search/deadline.h"

namespace tilewright::overlay {

// Not to be shared between threads.
class ScheduleTimer {
 public:
  // A trial throws Expired when the time of `deadline`, if any, is over. Errors (invalid input): hardware or
  // a memory model that break their rules.
  explicit ScheduleTimer(const OverlayHardware& hardware, const MemoryModel& memory = {},
                         const Deadline* deadline = nullptr);

  // Cycles of a tiling on this hardware, which must fit (Tiling::fits): from empty scratchpads to the end of
  // the run; the layer's buffers lie one after the other in memory. Errors: those of lower_layer and of
  // CycleSimulator, for schedules that cannot be compiled or whose loads run further ahead than tokens can be
  // counted.
  uint64_t cycles(const Tiling& tiling);
  // The same if they are at most `limit`. Else nullopt, as soon as that is certain; an error that would occur
  // later in the program is then not noticed.
  std::optional<uint64_t> cycles_below(const Tiling& tiling, uint64_t limit);

  // Instructions of the program that was timed last.
  uint64_t instructions() const { return program_.count(); }

 private:
  OverlayHardware hardware_;
  MemoryModel memory_;
  const Deadline* deadline_;
  TimedProgram program_;
};

}  // namespace tilewright::overlay
