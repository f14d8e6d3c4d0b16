// Layout of the plots. Colours are those of Okabe and Ito, which people with colour-blindness tell apart; the
// legend lists series from the top, in the order in which they are stacked.
#include "tilewright/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/report/svg.h"

namespace tilewright {
namespace {

constexpr std::array<std::array<const char*, 8>, 2> kPalettes = {
    {{"#bbbbbb", "#0072b2", "#56b4e9", "#009e73", "#f0e442", "#e69f00", "#d55e00", "#cc79a7"},
     {"#bbbbbb", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#56b4e9", "#d55e00", "#f0e442"}}};
constexpr const char* kGrid = "#dddddd";
constexpr const char* kAxis = "#444444";
constexpr double kPlotHeight = 260, kLeft = 76, kTitle = 34, kText = 12;

const char* colour(int palette, size_t index) {
  const auto& colours = kPalettes[size_t(palette) % kPalettes.size()];
  return colours[index % colours.size()];
}

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, estimated_text_width(text, size));
  return width;
}

struct BarLayout {
  double left = kLeft;      // of the axis
  double slot = 0;          // width of a bar and its gap
  double plot_width = 0;    // all slots
  double label_height = 0;  // below the axis
  bool turned = false;
  double legend_width = 0;
};

BarLayout layout_of(const std::vector<BarChart>& charts) {
  BarLayout layout;
  size_t bars = 1;
  std::vector<std::string> labels, series;
  for (const BarChart& chart : charts) {
    bars = std::max(bars, chart.bars.size());
    for (const Bar& bar : chart.bars) labels.push_back(bar.label);
    series.insert(series.end(), chart.series.begin(), chart.series.end());
  }
  const double label_width = widest(labels, kText);
  layout.slot = std::clamp(640.0 / double(bars), 22.0, 110.0);
  layout.turned = label_width > layout.slot - 6;
  layout.plot_width = std::max(layout.slot * double(bars), 300.0);
  constexpr double kSine45 = 0.7072;
  // A turned label of the first bar reaches to the left of the axis.
  if (layout.turned) layout.left = std::max(kLeft, label_width * kSine45 + 12 - layout.slot / 2);
  layout.label_height = layout.turned ? label_width * kSine45 + 22 : 26;
  layout.legend_width = widest(series, kText) + 50;
  return layout;
}

void draw_axis(SvgDrawing& drawing, const std::vector<double>& ticks, double left, double top, double width) {
  const double step = ticks[1] - ticks[0];
  for (const double tick : ticks) {
    const double y = top + kPlotHeight * (1 - tick / ticks.back());
    drawing.line(left, y, left + width, y, tick == 0 ? kAxis : kGrid);
    drawing.text(left - 8, y + 4, tick_text(tick, step), {kText, SvgAnchor::kEnd});
  }
}

void draw_bar(SvgDrawing& drawing, const BarChart& chart, const Bar& bar, double x, double slot, double top,
              double highest) {
  const double width = slot * 0.68, left = x + (slot - width) / 2, bottom = top + kPlotHeight;
  if (bar.values.empty()) {
    drawing.text(x + slot / 2 + 4, bottom - 8, bar.missing, {11, SvgAnchor::kStart, -90, false, "#aa3333"});
    return;
  }
  double y = bottom, sum = 0;
  for (size_t s = 0; s < bar.values.size(); ++s) {
    const double height = kPlotHeight * bar.values[s] / highest;
    sum += bar.values[s];
    if (height <= 0) continue;
    y -= height;
    drawing.rectangle(left, y, width, height, colour(chart.palette, s),
                      fmt::format("{}, {}: {:.4g}", bar.label, chart.series[s], bar.values[s]));
  }
  const std::string total = fmt::format("{:#.3g}", sum);
  if (estimated_text_width(total, 11) < slot) {
    drawing.text(x + slot / 2, y - 5, total, {11, SvgAnchor::kMiddle});
  }
}

void draw_chart(SvgDrawing& drawing, const BarChart& chart, const BarLayout& layout, double top) {
  drawing.text(layout.left, top + 18, chart.title, {14, SvgAnchor::kStart, 0, true});
  const double plot_top = top + kTitle;
  double highest = 0;
  for (const Bar& bar : chart.bars) {
    double sum = 0;
    for (const double value : bar.values) sum += value;
    highest = std::max(highest, sum);
  }
  const std::vector<double> ticks = axis_ticks(highest);
  draw_axis(drawing, ticks, layout.left, plot_top, layout.plot_width);
  drawing.text(20, plot_top + kPlotHeight / 2, chart.y_label, {kText, SvgAnchor::kMiddle, -90});
  const double bottom = plot_top + kPlotHeight;
  for (size_t b = 0; b < chart.bars.size(); ++b) {
    const double x = layout.left + layout.slot * double(b);
    draw_bar(drawing, chart, chart.bars[b], x, layout.slot, plot_top, ticks.back());
    if (layout.turned) {
      drawing.text(x + layout.slot / 2 + 4, bottom + 14, chart.bars[b].label, {kText, SvgAnchor::kEnd, -45});
    } else {
      drawing.text(x + layout.slot / 2, bottom + 18, chart.bars[b].label, {kText, SvgAnchor::kMiddle});
    }
  }
  double y = plot_top + 4;
  for (size_t s = chart.series.size(); s-- > 0; y += 20) {
    const double x = layout.left + layout.plot_width + 18;
    drawing.rectangle(x, y, 13, 13, colour(chart.palette, s));
    drawing.text(x + 20, y + 11, chart.series[s], {kText});
  }
}

}  // namespace

std::string bar_chart_svg(const std::string& heading, const std::vector<BarChart>& charts) {
  const BarLayout layout = layout_of(charts);
  SvgDrawing drawing;
  drawing.text(layout.left, 28, heading, {16, SvgAnchor::kStart, 0, true});
  const double panel = kTitle + kPlotHeight + layout.label_height + 16;
  double top = 44;
  for (const BarChart& chart : charts) {
    draw_chart(drawing, chart, layout, top);
    top += panel;
  }
  const double width = std::max(layout.left + layout.plot_width + layout.legend_width + 24,
                                layout.left + estimated_text_width(heading, 17.5) + 24);
  return drawing.document(width, top + 8, heading);
}

namespace {

struct Scale {
  std::vector<double> ticks;
  double low = 0, high = 1;
  double share(double value) const { return (value - low) / (high - low); }
};

Scale scale_of(double lowest, double highest) {
  // A front of one point still needs an axis with an extent.
  if (!(highest > lowest)) {
    const double margin = lowest == 0 ? 1 : std::abs(lowest) * 0.1;
    lowest -= margin;
    highest += margin;
  }
  Scale scale;
  scale.ticks = range_ticks(lowest, highest);
  scale.low = scale.ticks.front();
  scale.high = scale.ticks.back();
  return scale;
}

}  // namespace

std::string front_chart_svg(const FrontChart& chart) {
  constexpr double kWidth = 620, kHeight = 400, kTop = 50;
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  std::vector<std::string> names;
  for (const Front& front : chart.fronts) {
    names.push_back(front.name);
    for (const FrontPoint& point : front.points) {
      x_low = std::min(x_low, point.x), x_high = std::max(x_high, point.x);
      y_low = std::min(y_low, point.y), y_high = std::max(y_high, point.y);
    }
  }
  if (x_low > x_high) x_low = y_low = 0, x_high = y_high = 1;
  const Scale xs = scale_of(x_low, x_high), ys = scale_of(y_low, y_high);
  const auto at = [&](const FrontPoint& point) {
    return std::pair{kLeft + kWidth * xs.share(point.x), kTop + kHeight * (1 - ys.share(point.y))};
  };
  SvgDrawing drawing;
  drawing.text(kLeft, 28, chart.title, {16, SvgAnchor::kStart, 0, true});
  for (const double tick : ys.ticks) {
    const double y = at({xs.low, tick}).second;
    drawing.line(kLeft, y, kLeft + kWidth, y, kGrid);
    drawing.text(kLeft - 8, y + 4, tick_text(tick, ys.ticks[1] - ys.ticks[0]), {kText, SvgAnchor::kEnd});
  }
  for (const double tick : xs.ticks) {
    const double x = at({tick, ys.low}).first;
    drawing.line(x, kTop, x, kTop + kHeight, kGrid);
    drawing.text(x, kTop + kHeight + 18, tick_text(tick, xs.ticks[1] - xs.ticks[0]),
                 {kText, SvgAnchor::kMiddle});
  }
  drawing.line(kLeft, kTop + kHeight, kLeft + kWidth, kTop + kHeight, kAxis);
  drawing.line(kLeft, kTop, kLeft, kTop + kHeight, kAxis);
  drawing.text(kLeft + kWidth / 2, kTop + kHeight + 42, chart.x_label, {13, SvgAnchor::kMiddle});
  drawing.text(20, kTop + kHeight / 2, chart.y_label, {13, SvgAnchor::kMiddle, -90});
  double legend = kTop + 4;
  for (size_t f = 0; f < chart.fronts.size(); ++f, legend += 20) {
    const Front& front = chart.fronts[f];
    const char* shade = colour(0, f + 1);
    std::vector<std::pair<double, double>> steps;
    for (size_t p = 0; p < front.points.size(); ++p) {
      const auto here = at(front.points[p]);
      // Between two points the better x is not to be had at the better y: the front is a staircase.
      if (p > 0) steps.emplace_back(here.first, steps.back().second);
      steps.push_back(here);
    }
    if (front.connected && steps.size() > 1) drawing.polyline(steps, shade, 1.6);
    constexpr size_t kMarksShown = 400;
    const double radius = !front.connected ? 5.5 : front.points.size() > kMarksShown ? 1.2 : 3.2;
    for (const FrontPoint& point : front.points) {
      const auto mark = at(point);
      drawing.circle(mark.first, mark.second, radius, shade,
                     fmt::format("{}: {:.5g}, {:.5g}", front.name, point.x, point.y));
    }
    drawing.circle(kLeft + kWidth + 24, legend + 6, front.connected ? 4 : 5.5, shade);
    drawing.text(kLeft + kWidth + 36, legend + 10, front.name, {kText});
  }
  const double width = std::max(kLeft + kWidth + widest(names, kText) + 60,
                                kLeft + estimated_text_width(chart.title, 17.5) + 24);
  return drawing.document(width, kTop + kHeight + 62, chart.title);
}

}  // namespace tilewright
