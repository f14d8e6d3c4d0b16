// The plot of an exploration as a file of its own.
#pragma once

#include "tilewright/flow/explore/exploration.h"
#include "tilewright/report/plot_drawing.h"

namespace tilewright {

// Latency against the scarcest resource, stairs per operand width.
PlotDrawing draw_front(const ExplorationReport& report);

}  // namespace tilewright
