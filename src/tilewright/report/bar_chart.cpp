// Layout of bars. The legend stands on the right; that of stacked bars lists series from the top.
#include "tilewright/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/report/plot_style.h"

namespace tilewright {
namespace {

constexpr double kBarsHeight = 260, kBarsLeft = 76, kBarsTitle = 34, kLegendRow = 20, kSumText = 11;
constexpr double kSideBar = 24;  // of bars beside each other

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, estimated_text_width(text, kPlotText));
  return width;
}

// The same for all charts of a drawing.
struct BarLayout {
  double left = kBarsLeft;  // of the axis
  double slot = 0;          // width of a group and its gap
  double plot_width = 0;    // all slots
  double label_height = 0;  // below the axis
  bool turned = false;
  double legend_width = 0;
};

BarLayout layout_of(const std::vector<BarChart>& charts) {
  BarLayout layout;
  size_t groups = 1;
  double least = 22;
  std::vector<std::string> labels, series;
  for (const BarChart& chart : charts) {
    groups = std::max(groups, chart.groups.size());
    if (!chart.stacked) least = std::max(least, kSideBar * double(chart.series.size()) / 0.68);
    for (const BarGroup& group : chart.groups) labels.push_back(group.label);
    series.insert(series.end(), chart.series.begin(), chart.series.end());
  }
  const double label_width = widest(labels);
  layout.slot = std::clamp(640.0 / double(groups), least, std::max(least, 110.0));
  layout.turned = label_width > layout.slot - 6;
  layout.plot_width = std::max(layout.slot * double(groups), 300.0);
  constexpr double kSine45 = 0.7072;
  // A turned label of the first group reaches to the left of the axis.
  if (layout.turned) layout.left = std::max(kBarsLeft, label_width * kSine45 + 12 - layout.slot / 2);
  layout.label_height = layout.turned ? label_width * kSine45 + 22 : 26;
  layout.legend_width = widest(series) + 50;
  return layout;
}

// What the axis has to reach.
double highest_of(const BarChart& chart) {
  double highest = 0;
  for (const BarGroup& group : chart.groups) {
    double sum = 0;
    for (const double value : group.values) {
      if (std::isnan(value)) continue;
      sum = chart.stacked ? sum + value : std::max(sum, value);
    }
    highest = std::max(highest, sum);
  }
  return highest;
}

void draw_group(SvgDrawing& drawing, const BarChart& chart, const BarGroup& group, const LinearAxes& axes,
                double x, double slot) {
  const double width = slot * 0.68, left = x + (slot - width) / 2;
  if (group.values.empty()) {
    drawing.text(x + slot / 2 + 4, axes.bottom() - 8, group.missing,
                 {11, SvgAnchor::kStart, -90, false, "#aa3333"});
    return;
  }
  const double bar_width = chart.stacked ? width : width / double(group.values.size());
  const auto number = [&](double value, double middle, double y, double room, double size) {
    const std::string text = fmt::format("{:#.3g}", value);
    if (estimated_text_width(text, size) < room)
      drawing.text(middle, y - 5, text, {size, SvgAnchor::kMiddle});
  };
  double y = axes.bottom(), sum = 0;
  for (size_t s = 0; s < group.values.size(); ++s) {
    const double value = group.values[s];
    if (std::isnan(value)) continue;
    const double height = axes.bottom() - axes.y(value);
    const double bar_left = chart.stacked ? left : left + bar_width * double(s);
    if (!chart.stacked) y = axes.bottom();
    if (height > 0) {
      y -= height;
      drawing.rectangle(bar_left, y, chart.stacked ? width : bar_width - 2, height,
                        plot_colour(s, chart.palette),
                        fmt::format("{}, {}: {:.4g}", group.label, chart.series[s], value));
    }
    sum += value;
    if (!chart.stacked) number(value, bar_left + bar_width / 2 - 1, y, bar_width + 4, 9);
  }
  if (chart.stacked) number(sum, x + slot / 2, y, slot, kSumText);
}

void draw_chart(SvgDrawing& drawing, const BarChart& chart, const BarLayout& layout, double top) {
  drawing.text(layout.left, top + 18, chart.title, {14, SvgAnchor::kStart, 0, true});
  const LinearAxes axes{layout.left, top + kBarsTitle, layout.plot_width,
                        kBarsHeight, {0, 1},           axis_ticks(highest_of(chart))};
  draw_y_axis(drawing, axes, chart.y_label);
  for (size_t g = 0; g < chart.groups.size(); ++g) {
    const double x = layout.left + layout.slot * double(g), middle = x + layout.slot / 2;
    draw_group(drawing, chart, chart.groups[g], axes, x, layout.slot);
    if (layout.turned) {
      drawing.text(middle + 4, axes.bottom() + 14, chart.groups[g].label, {kPlotText, SvgAnchor::kEnd, -45});
    } else {
      drawing.text(middle, axes.bottom() + 18, chart.groups[g].label, {kPlotText, SvgAnchor::kMiddle});
    }
  }
  for (size_t row = 0; row < chart.series.size(); ++row) {
    const size_t s = chart.stacked ? chart.series.size() - 1 - row : row;
    const double x = axes.right() + 18, y = axes.top + 4 + kLegendRow * double(row);
    drawing.rectangle(x, y, 13, 13, plot_colour(s, chart.palette));
    drawing.text(x + 20, y + 11, chart.series[s], {kPlotText});
  }
}

}  // namespace

PlotDrawing draw_bars(const std::string& heading, const std::vector<BarChart>& charts) {
  const BarLayout layout = layout_of(charts);
  PlotDrawing drawn;
  drawn.title = heading;
  drawn.drawing.text(layout.left, 28, heading, {16, SvgAnchor::kStart, 0, true});
  double top = 44;
  for (const BarChart& chart : charts) {
    draw_chart(drawn.drawing, chart, layout, top);
    // The legend may be higher than the plot.
    top += kBarsTitle + std::max(kBarsHeight + layout.label_height, kLegendRow * double(chart.series.size()));
    top += 16;
  }
  drawn.width = std::max(layout.left + layout.plot_width + layout.legend_width + 24,
                         layout.left + estimated_text_width(heading, 17.5) + 24);
  drawn.height = top + 8;
  return drawn;
}

}  // namespace tilewright
