// The features of a schedule for learned cost models: numbers with fixed meaning and order, comparable across
// layers, overlays and memories. Sizes are logarithms (log2 of 1 + x), so that a model sees ratios.
#pragma once

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/tuning/layer_bound.h"
#include "tilewright/search/models/program_features.h"

namespace tilewright::overlay {

// The row: of the layer, the overlay and the schedule as a whole; then of each loop of the schedule, the
// outermost first, its extent, what one run of its body touches of each tensor, how often each tensor's part
// is moved again, and how often the loop runs (the context features of the tuning papers). The tree: the
// loops, with loads, sums, output passes and stores as leaves at the loop whose body they belong to.
// `hardware` and `memory` are the machine, `bound` the layer's on it; the tiling must fit.
ProgramFeatures schedule_features(const Tiling& tiling, const OverlayHardware& hardware,
                                  const MemoryModel& memory, const LayerBound& bound);

}  // namespace tilewright::overlay
