// The plots of a generated design's report.
#pragma once

#include "tilewright/flow/design/design_report.h"
#include "tilewright/report/plot_drawing.h"
#include "tilewright/report/roofline_plot.h"

namespace tilewright {

// A bar per resource: need in front, budget and device behind it.
PlotDrawing draw_utilisation(const DesignReport& report);
// A lane per engine or stage over the cycles of one image: work dark, waiting light; the numbers are those of
// the layers.
PlotDrawing draw_lanes(const DesignReport& report);
// MACs per cycle over MACs per byte of memory traffic, for layers whose weights come from memory and for the
// whole design.
PlotDrawing draw_design_roofline(const DesignReport& report);
// What it draws: no mark is above the roof.
RooflinePlot design_roofline(const DesignReport& report);

}  // namespace tilewright
