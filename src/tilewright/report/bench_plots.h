// The two kinds of plots that experiments draw: bars in groups, and lines with their mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tilewright/report/plot_drawing.h"

namespace tilewright {

// One bar per group and series; NaN leaves it out.
struct BarPlot {
  std::string title, y_label;
  std::vector<std::string> groups, series;
  std::vector<std::vector<double>> values;  // [group][series], not negative
};
PlotDrawing draw_bars(const BarPlot& plot);

using PlotLine = std::vector<std::pair<double, double>>;  // NaN in y interrupts it

// Thin lines and, where there are several with the same x, their mean as a thick one.
struct LineSeries {
  std::string name;
  std::vector<PlotLine> lines;
};
struct LinePanel {
  std::string title, x_label, y_label;
  std::vector<LineSeries> series;
  bool from_zero = false;  // else y begins near the lowest value
};
// Panels side by side with one legend; series at the same place of every panel have the same colour.
PlotDrawing draw_lines(const std::string& title, const std::vector<LinePanel>& panels);

}  // namespace tilewright
