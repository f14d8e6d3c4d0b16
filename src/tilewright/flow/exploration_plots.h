// The plots of an exploration, for its page and for files of their own.
#pragma once

#include "tilewright/flow/bench_plots.h"
#include "tilewright/flow/exploration.h"

namespace tilewright {

PlotDrawing draw_front(const ExplorationReport& report);
PlotDrawing draw_knob_importance(const ExplorationReport& report);

}  // namespace tilewright
