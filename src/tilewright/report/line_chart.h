// Line charts: curves with their mean, and fronts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tilewright/report/plot_drawing.h"

namespace tilewright {

using PlotLine = std::vector<std::pair<double, double>>;  // ascending x; NaN in y interrupts it

enum class LineStyle {
  kCurves,  // thin lines and, where there are several with the same x, their mean as a thick one
  kFront,   // a staircase through marks: what lies between two points is had only at the worse y
  kMarks,   // large marks without lines
};

struct LineSeries {
  std::string name;
  std::vector<PlotLine> lines;
  LineStyle style = LineStyle::kCurves;
};

struct LinePanel {
  std::string title, x_label, y_label;
  std::vector<LineSeries> series;
  // Else an axis begins near the lowest value.
  bool y_from_zero = false, x_from_zero = true;
};

// Panels side by side with one legend; series at the same place of every panel have the same colour. A single
// panel is larger.
PlotDrawing draw_lines(const std::string& title, const std::vector<LinePanel>& panels);

}  // namespace tilewright
