// What all plots share: colours, the size of text, linear axes with their grid.
#pragma once

#include <string>
#include <vector>

#include "tilewright/report/svg.h"

namespace tilewright {

inline constexpr const char* kPlotGrid = "#e4e4e4";
inline constexpr const char* kPlotFineGrid = "#f3f3f3";
inline constexpr const char* kPlotLine = "#333333";
inline constexpr double kPlotText = 12;  // pixels

// Colours that most colour-blind readers tell apart. Palette 0 is for lines and bars beside each other; 1 and
// 2 begin with grey and differ from each other, so that two plots of the same whole are not taken for one.
const char* plot_colour(size_t series, int palette = 0);

// A plot's rectangle, in pixels, and the values at its edges. At least two ticks each, ascending.
struct LinearAxes {
  double left = 0, top = 0, width = 0, height = 0;
  std::vector<double> x_ticks, y_ticks;

  double x(double value) const;
  double y(double value) const;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};
// Grid, numbers and label of one axis. Labels stand 56 pixels to the left and 38 below.
void draw_x_axis(SvgDrawing& drawing, const LinearAxes& axes, const std::string& label);
void draw_y_axis(SvgDrawing& drawing, const LinearAxes& axes, const std::string& label);

// Ticks that enclose [lowest, highest]; from zero where asked, or where both are the same.
std::vector<double> enclosing_ticks(double lowest, double highest, bool from_zero);

}  // namespace tilewright
