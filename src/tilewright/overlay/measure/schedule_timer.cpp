// A trial: lay out the layer's buffers, lower the layer to times, place the micro-ops and the program behind
// the buffers (bursts depend on addresses), and run the engine up to the limit.
#include "tilewright/overlay/measure/schedule_timer.h"

#include <memory>

#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/lower/layer_layout.h"
#include "tilewright/overlay/lower/lowering.h"
#include "tilewright/overlay/time/cycle_engine.h"

namespace tilewright::overlay {

ScheduleTimer::ScheduleTimer(const OverlayHardware& hardware, const MemoryModel& memory,
                             const Deadline* deadline)
    : hardware_(hardware), memory_(memory), deadline_(deadline), program_(hardware) {
  if (hardware_.name.empty()) hardware_.name = "overlay";  // the rules want one
  Diagnostics diagnostics;
  hardware_.verify(diagnostics);
  memory_.verify(diagnostics);
  diagnostics.raise_if_any();
}

uint64_t ScheduleTimer::cycles(const Tiling& tiling) { return *cycles_below(tiling, kNever - 1); }

std::optional<uint64_t> ScheduleTimer::cycles_below(const Tiling& tiling, uint64_t limit) {
  LayerLayout layout(tiling, hardware_);
  program_.clear();
  Runtime runtime(hardware_, program_);
  lower_layer(tiling, layout.addresses(), runtime);
  runtime.synchronize_times(layout.take(runtime.uop_image_bytes()));
  const uint64_t address = layout.take(program_.count() * uint64_t(hardware_.instruction_bytes()));
  program_.begin();
  const std::unique_ptr<MemoryTiming> memory = make_memory_timing(memory_);
  CycleEngine<TimedProgram> engine(hardware_, address, program_.count(), program_, *memory);
  const uint64_t cycles = engine.run(limit, deadline_);
  if (cycles == kNever) return std::nullopt;
  return cycles;
}

}  // namespace tilewright::overlay
