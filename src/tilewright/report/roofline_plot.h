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
  double before_intensity = 0, before_rate = 0;  // where it was before a change; 0: nowhere
};

struct RooflinePlot {
  std::string title, x_label, list_title;
  double macs_per_cycle = 1, bytes_per_cycle = 1, clock_mhz = 100;
  std::vector<RooflineMark> marks;
  std::vector<std::string> list;
  std::string legend_title;
  std::vector<std::pair<std::string, std::string>> legend;  // colour, meaning
};

// One layer before and after something was changed about it. Bytes are those of the busier direction.
struct OperatingPoint {
  std::string name;
  int64_t macs = 0, cycles = 0, before_cycles = 0;
  double bytes = 0, before_bytes = 0;
};
// Adds a numbered mark and its line of the list; nothing for a layer that has no place in the plot (no MACs).
// `roofline` has its limits already.
void add_before_and_after(RooflinePlot& roofline, size_t number, const OperatingPoint& layer);

PlotDrawing draw_roofline(const RooflinePlot& roofline);

}  // namespace tilewright
