// A roofline plot: MACs per cycle against MACs per byte, both axes logarithmic, the two roofs of a machine, a
// mark for everything that runs on it, and a numbered list beside it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/report/plot_drawing.h"

namespace tilewright {

struct RooflineMark {
  double intensity = 0, rate = 0;  // MACs per byte, MACs per cycle
  std::string numbers;             // of the list
  std::string tooltip;
  std::string colour;
};

struct RooflinePlot {
  std::string title, x_label, list_title;
  double macs_per_cycle = 1, bytes_per_cycle = 1, clock_mhz = 100;
  std::vector<RooflineMark> marks;
  std::vector<std::string> list;
  std::string legend_title;
  std::vector<std::pair<std::string, std::string>> legend;  // colour, meaning
};

PlotDrawing draw_roofline(const RooflinePlot& roofline);

}  // namespace tilewright
