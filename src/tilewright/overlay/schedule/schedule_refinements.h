// The fields of a schedule that leave its tiles and steps alone and refine the order of instructions at the
// edges of a layer: early_start, parameters_by_tile, first_parts, finish_parts.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

// Whether each of these fields that is not at its default changes the program. Schedules of one thread, for
// overlays without room for two, have none of them, and parts of the first step need an early start: without
// it they would wait for what the sums start from.
bool refinements_matter(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule,
                        std::shared_ptr<const TilingFacts> facts);

// `schedule` with the refinements worth a trial, as far as they matter and fit.
std::vector<Schedule> refined_schedules(const OverlayLayer& layer, const OverlayHardware& hardware,
                                        const Schedule& schedule, std::shared_ptr<const TilingFacts> facts);

}  // namespace tilewright::overlay
