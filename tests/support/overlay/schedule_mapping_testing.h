// An overlay schedule as a nest mapping, the common form of all mappers: a mapping onto DRAM, scratchpads and
// the GEMM micro-op. The data that a schedule loads and holds can then be counted by the same footprints as
// everything else.
#pragma once

#include <optional>

#include "tilewright/nest/validity.h"
#include "tilewright/overlay/schedule/schedule.h"

namespace tilewright::overlay {

struct ScheduleMapping {
  // Dimensions N M C P Q R S. N, M and C are those of whole blocks, padding included, since that is what the
  // overlay computes. Of the input, only every row that some tap reads is a row (as the overlay loads them).
  Workload workload;
  // "dram", "scratchpad" (INP, WGT and ACC with capacities of their own), "micro-op" (the lanes of one GEMM).
  Hierarchy hierarchy;
  // The tiles of level 1, in order, are the steps of the schedule (tiling.h).
  Mapping mapping;
};

// nullopt for layers that are not a single perfect loop nest over dense weights: maximum layers, additions
// and other layers of several sources, depthwise and grouped layers, phases of transposed convolutions,
// 16-bit weights. Errors: those of scheduled_layer.
std::optional<ScheduleMapping> schedule_mapping(const OverlayLayer& layer, const OverlayHardware& hardware,
                                                const Schedule& schedule);

}  // namespace tilewright::overlay
