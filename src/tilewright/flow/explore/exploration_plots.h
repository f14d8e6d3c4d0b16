// The plots of an exploration, for its page and for files of their own.
#pragma once

#include "tilewright/flow/explore/exploration.h"
#include "tilewright/report/plot_drawing.h"

namespace tilewright {

PlotDrawing draw_front(const ExplorationReport& report);
// Latency of the fastest candidate by how many were tuned, a line per operand width.
PlotDrawing draw_best_so_far(const ExplorationReport& report);
PlotDrawing draw_knob_importance(const ExplorationReport& report);
// The layers on the fastest candidate, with default schedules and tuned.
PlotDrawing draw_fastest(const WidthReport& width);

}  // namespace tilewright
