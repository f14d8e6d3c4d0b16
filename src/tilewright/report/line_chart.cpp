// Layout of panels and what is drawn of each kind of series. The legend stands below.
#include "tilewright/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/report/plot_style.h"

namespace tilewright {
namespace {

constexpr double kLinesLeft = 76, kLinesTop = 60, kPanelGap = 80;

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

void draw_line(SvgDrawing& drawing, const LinearAxes& axes, const PlotLine& line, const char* stroke,
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

// The staircase between the points of a front.
PlotLine steps_of(const PlotLine& points) {
  PlotLine steps;
  for (const auto& point : points) {
    if (!steps.empty()) steps.emplace_back(point.first, steps.back().second);
    steps.push_back(point);
  }
  return steps;
}

void draw_marks(SvgDrawing& drawing, const LinearAxes& axes, const PlotLine& points, const std::string& name,
                const char* fill, double radius) {
  for (const auto& [x, y] : points)
    drawing.circle(axes.x(x), axes.y(y), radius, fill, fmt::format("{}: {:.5g}, {:.5g}", name, x, y));
}

void draw_series(SvgDrawing& drawing, const LinearAxes& axes, const LineSeries& series, const char* colour) {
  constexpr size_t kLargeMarks = 400;  // more points have small ones
  if (series.style == LineStyle::kCurves) {
    for (const PlotLine& line : series.lines) draw_line(drawing, axes, line, colour, 0.6);
    draw_line(drawing, axes, mean_of(series.lines), colour, 2.5);
    return;
  }
  for (const PlotLine& line : series.lines) {
    const bool front = series.style == LineStyle::kFront;
    if (front) draw_line(drawing, axes, steps_of(line), colour, 1.6);
    draw_marks(drawing, axes, line, series.name, colour,
               !front                      ? 5.5
               : line.size() > kLargeMarks ? 1.2
                                           : 3.2);
  }
}

LinearAxes axes_of(const LinePanel& panel, double left, bool single) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double x_low = kNone, x_high = -kNone, y_low = kNone, y_high = -kNone;
  for (const LineSeries& series : panel.series) {
    for (const PlotLine& line : series.lines) {
      for (const auto& [x, y] : line) {
        x_low = std::min(x_low, x), x_high = std::max(x_high, x);
        if (std::isnan(y)) continue;
        y_low = std::min(y_low, y), y_high = std::max(y_high, y);
      }
    }
  }
  return {left,
          kLinesTop,
          single ? 620.0 : 400.0,
          single ? 400.0 : 260.0,
          enclosing_ticks(x_low, x_high, panel.x_from_zero),
          enclosing_ticks(y_low, y_high, panel.y_from_zero)};
}

void draw_panel(SvgDrawing& drawing, const LinePanel& panel, const LinearAxes& axes) {
  drawing.text(axes.left, axes.top - 12, panel.title, {kPlotText, SvgAnchor::kStart, 0, true});
  draw_x_axis(drawing, axes, panel.x_label);
  draw_y_axis(drawing, axes, panel.y_label);
  for (size_t s = 0; s < panel.series.size(); ++s)
    draw_series(drawing, axes, panel.series[s], plot_colour(s));
}

// Returns where it ends.
double draw_legend(SvgDrawing& drawing, const std::vector<LineSeries>& series, double y) {
  double x = kLinesLeft;
  for (size_t s = 0; s < series.size(); ++s) {
    drawing.rectangle(x, y - 10, 12, 12, plot_colour(s));
    drawing.text(x + 18, y, series[s].name, {kPlotText});
    x += 42 + estimated_text_width(series[s].name, kPlotText);
  }
  return x;
}

}  // namespace

PlotDrawing draw_lines(const std::string& title, const std::vector<LinePanel>& panels) {
  PlotDrawing drawn;
  drawn.title = title;
  drawn.drawing.text(kLinesLeft, 28, title, {16, SvgAnchor::kStart, 0, true});
  double right = kLinesLeft - kPanelGap, bottom = kLinesTop;
  for (const LinePanel& panel : panels) {
    const LinearAxes axes = axes_of(panel, right + kPanelGap, panels.size() == 1);
    draw_panel(drawn.drawing, panel, axes);
    right = axes.right();
    bottom = axes.bottom();
  }
  const double legend = draw_legend(drawn.drawing, panels.front().series, bottom + 66);
  drawn.width = std::max({right + 20, legend, kLinesLeft + estimated_text_width(title, 17.5) + 24});
  drawn.height = bottom + 82;
  return drawn;
}

}  // namespace tilewright
