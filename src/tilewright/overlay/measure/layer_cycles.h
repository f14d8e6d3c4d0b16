// The exact cycles of one layer under a schedule: its program, run alone on the cycle simulator without data.
#pragma once

#include <cstdint>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/estimate.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

// From empty scratchpads to the end of the run; the layer's buffers lie one after the other in memory. The
// tiling must fit. Errors: those of lower_layer and of CycleSimulator, for schedules that cannot be compiled
// or whose loads run further ahead than tokens can be counted.
uint64_t layer_cycles(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory);

// estimate_layer with these cycles in place of its own, unless the layer has so many tiles that trying it
// takes long.
TilingEstimate predict_layer(const Tiling& tiling, const OverlayHardware& hardware,
                             const MemoryModel& memory = {});

}  // namespace tilewright::overlay
