// A program's cycles on the cycle simulator, layer by layer.
#pragma once

#include <vector>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/program/layer_timing.h"
#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright::overlay {

struct ProgramTiming {
  TimedRun run;
  std::vector<LayerTiming> layers;
};

// Times one run of `program` on the cycle simulator. Nothing is computed: timing does not depend on data.
// Throws Expired when the time of `deadline`, if any, is over.
ProgramTiming time_program(OverlayProgram& program, const MemoryModel& memory,
                           const Deadline* deadline = nullptr);

}  // namespace tilewright::overlay
