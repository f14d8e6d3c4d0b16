// Bar charts: the values of each group beside each other or on top of each other.
#pragma once

#include <string>
#include <vector>

#include "tilewright/report/plot_drawing.h"

namespace tilewright {

// A value per series, not negative; NaN leaves it out. Without values: a gap with the words `missing`.
struct BarGroup {
  std::string label;
  std::vector<double> values;
  std::string missing;
};

struct BarChart {
  std::string title, y_label;
  std::vector<std::string> series;
  std::vector<BarGroup> groups;
  bool stacked = false;  // from the bottom up
  int palette = 0;       // of plot_colour
};

// The charts below each other, under one heading. Labels turn when they would touch.
PlotDrawing draw_bars(const std::string& heading, const std::vector<BarChart>& charts);

}  // namespace tilewright
