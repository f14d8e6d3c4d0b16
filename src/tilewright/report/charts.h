// Plots as SVG documents: stacked bars and fronts.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

// One bar: a value per series, drawn from the bottom up; an empty list is a gap with the words `missing`.
struct Bar {
  std::string label;
  std::vector<double> values;
  std::string missing;
};

struct BarChart {
  std::string title, y_label;
  std::vector<std::string> series;
  std::vector<Bar> bars;
  // Colours come from `palette` 0 (places) or 1 (data types), so that two charts are not taken for one.
  int palette = 0;
};

// The charts below each other, under one heading. Labels turn when they would touch.
std::string bar_chart_svg(const std::string& heading, const std::vector<BarChart>& charts);

struct FrontPoint {
  double x = 0, y = 0;
};

struct Front {
  std::string name;
  std::vector<FrontPoint> points;  // ascending x
  bool connected = true;           // drawn as steps; else as separate marks
};

struct FrontChart {
  std::string title, x_label, y_label;
  std::vector<Front> fronts;
};
std::string front_chart_svg(const FrontChart& chart);

}  // namespace tilewright
