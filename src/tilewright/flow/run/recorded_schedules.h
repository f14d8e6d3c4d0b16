// Schedules from records, for compile(): tuning pays for every later compilation of the same layers.
#pragma once

#include "tilewright/flow/run/bundle.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/tune/records/best_schedules.h"

namespace tilewright {

// The schedule of the best record with exactly this layer and hardware, measured by this version behind
// `memory`; nothing if there is none, if it does not fit the layer, or if the default schedule is predicted
// to be as fast. `records` and `hardware` outlive the result, which one thread at a time may call.
ScheduleSource recorded_schedules(const tune::BestSchedules& records, const OverlayHardware& hardware,
                                  const MemoryModel& memory = {});

}  // namespace tilewright
