// Colours are told apart by most colour-blind readers (after Okabe and Ito).
#include "tilewright/report/bench_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/report/svg.h"

namespace tilewright {
namespace {

constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr const char* kGrid = "#e4e4e4";
constexpr double kLeft = 70, kTop = 60, kHeight = 260, kPanel = 400, kGap = 80, kText = 12;
constexpr double kBar = 22, kBetween = 30;

const char* colour(size_t series) { return kColours[series % std::size(kColours)]; }

// One panel's rectangle and its axes.
struct Axes {
  double left = 0, width = 0;
  std::vector<double> x_ticks, y_ticks;

  double x(double value) const {
    return left + width * (value - x_ticks.front()) / (x_ticks.back() - x_ticks.front());
  }
  double y(double value) const {
    return kTop + kHeight * (y_ticks.back() - value) / (y_ticks.back() - y_ticks.front());
  }
};

void draw_y_axis(SvgDrawing& drawing, const Axes& axes, const std::string& label) {
  const double step = axes.y_ticks[1] - axes.y_ticks[0];
  for (const double tick : axes.y_ticks) {
    drawing.line(axes.left, axes.y(tick), axes.left + axes.width, axes.y(tick), kGrid);
    drawing.text(axes.left - 6, axes.y(tick) + 4, tick_text(tick, step), {kText, SvgAnchor::kEnd});
  }
  drawing.text(axes.left - 50, kTop + kHeight / 2, label, {kText, SvgAnchor::kMiddle, -90});
}

void draw_legend(SvgDrawing& drawing, const std::vector<std::string>& names, double top) {
  double x = kLeft;
  for (size_t i = 0; i < names.size(); ++i) {
    drawing.rectangle(x, top - 10, 12, 12, colour(i));
    drawing.text(x + 18, top, names[i], {kText});
    x += 42 + estimated_text_width(names[i], kText);
  }
}

double legend_width(const std::vector<std::string>& names) {
  double width = kLeft;
  for (const std::string& name : names) width += 42 + estimated_text_width(name, kText);
  return width;
}

// Points of equal x, averaged over the lines that have a value there.
PlotLine mean_of(const std::vector<PlotLine>& lines) {
  PlotLine mean;
  for (size_t i = 0; !lines.empty() && i < lines.front().size(); ++i) {
    double sum = 0;
    int count = 0;
    for (const PlotLine& line : lines) {
      if (i >= line.size() || std::isnan(line[i].second)) continue;
      sum += line[i].second;
      ++count;
    }
    mean.emplace_back(lines.front()[i].first,
                      count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
  }
  return mean;
}

void draw_line(SvgDrawing& drawing, const Axes& axes, const PlotLine& line, const char* stroke,
               double width) {
  PlotLine piece;
  const auto flush = [&] {
    if (piece.size() > 1) drawing.polyline(piece, stroke, width);
    piece.clear();
  };
  for (const auto& point : line) {
    if (std::isnan(point.second)) {
      flush();
    } else {
      piece.emplace_back(axes.x(point.first), axes.y(point.second));
    }
  }
  flush();
}

Axes axes_of(const LinePanel& panel, double left) {
  double x_high = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (const LineSeries& series : panel.series) {
    for (const PlotLine& line : series.lines) {
      for (const auto& point : line) {
        x_high = std::max(x_high, point.first);
        if (std::isnan(point.second)) continue;
        low = std::min(low, point.second);
        high = std::max(high, point.second);
      }
    }
  }
  const bool zero = panel.from_zero || !(low < high);
  return {left, kPanel, axis_ticks(x_high), zero ? axis_ticks(high) : range_ticks(low, high)};
}

void draw_panel(SvgDrawing& drawing, const LinePanel& panel, double left) {
  const Axes axes = axes_of(panel, left);
  drawing.text(left, kTop - 12, panel.title, {kText, SvgAnchor::kStart, 0, true});
  draw_y_axis(drawing, axes, panel.y_label);
  const double step = axes.x_ticks[1] - axes.x_ticks[0];
  for (const double tick : axes.x_ticks)
    drawing.text(axes.x(tick), kTop + kHeight + 18, tick_text(tick, step), {kText, SvgAnchor::kMiddle});
  drawing.text(left + kPanel / 2, kTop + kHeight + 38, panel.x_label, {kText, SvgAnchor::kMiddle});
  for (size_t s = 0; s < panel.series.size(); ++s) {
    for (const PlotLine& line : panel.series[s].lines) draw_line(drawing, axes, line, colour(s), 0.6);
    draw_line(drawing, axes, mean_of(panel.series[s].lines), colour(s), 2.5);
  }
}

}  // namespace

PlotDrawing draw_bars(const BarPlot& plot) {
  PlotDrawing drawn;
  drawn.title = plot.title;
  SvgDrawing& drawing = drawn.drawing;
  double highest = 0;
  for (const std::vector<double>& group : plot.values) {
    for (const double value : group) highest = std::max(highest, std::isnan(value) ? 0 : value);
  }
  const double group_width = std::max(90.0, kBar * double(plot.series.size())) + kBetween;
  const Axes axes{kLeft, group_width * double(plot.groups.size()), {0, 1}, axis_ticks(highest)};
  drawing.text(kLeft, 24, plot.title, {14, SvgAnchor::kStart, 0, true});
  draw_y_axis(drawing, axes, plot.y_label);
  for (size_t g = 0; g < plot.groups.size(); ++g) {
    const double middle = kLeft + (double(g) + 0.5) * group_width;
    drawing.text(middle, kTop + kHeight + 18, plot.groups[g], {kText, SvgAnchor::kMiddle});
    for (size_t s = 0; s < plot.series.size(); ++s) {
      const double value = plot.values[g][s];
      if (std::isnan(value)) continue;
      const double x = middle + kBar * (double(s) - double(plot.series.size()) / 2);
      drawing.rectangle(x, axes.y(value), kBar - 2, axes.y(0) - axes.y(value), colour(s),
                        fmt::format("{}, {}: {:.2f}", plot.groups[g], plot.series[s], value));
      drawing.text(x + kBar / 2 - 1, axes.y(value) - 4, fmt::format("{:.3g}", value),
                   {9, SvgAnchor::kMiddle});
    }
  }
  draw_legend(drawing, plot.series, kTop + kHeight + 48);
  drawn.width = std::max(kLeft + axes.width + 20, legend_width(plot.series));
  drawn.height = kTop + kHeight + 64;
  return drawn;
}

PlotDrawing draw_lines(const std::string& title, const std::vector<LinePanel>& panels) {
  PlotDrawing drawn;
  drawn.title = title;
  SvgDrawing& drawing = drawn.drawing;
  drawing.text(kLeft, 24, title, {14, SvgAnchor::kStart, 0, true});
  double left = kLeft;
  for (const LinePanel& panel : panels) {
    draw_panel(drawing, panel, left);
    left += kPanel + kGap;
  }
  std::vector<std::string> names;
  for (const LineSeries& series : panels.front().series) names.push_back(series.name);
  draw_legend(drawing, names, kTop + kHeight + 66);
  drawn.width = std::max(left - kGap + 20, legend_width(names));
  drawn.height = kTop + kHeight + 82;
  return drawn;
}

}  // namespace tilewright
