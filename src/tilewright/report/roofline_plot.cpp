// Decades are equally long on both axes, so the slanted roof has 45 degrees. Marks that would touch share one
// label of all their numbers; labels that would touch move away from each other.
#include "tilewright/report/roofline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/integer_math.h"
#include "tilewright/report/plot_style.h"

namespace tilewright {
namespace {

constexpr double kRoofLeft = 80, kRoofTop = 56, kDecade = 170, kMark = 5;
constexpr double kListRow = 16, kListColumn = 330;
constexpr size_t kRowsPerColumn = 40;

// Whole decades that enclose all values given so far.
struct Decades {
  double low = 0, high = 1;
  void enclose(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double length() const { return (high - low) * kDecade; }
};

struct LogAxes {
  Decades x, y;
  double left(double intensity) const { return kRoofLeft + (std::log10(intensity) - x.low) * kDecade; }
  double top(double rate) const { return kRoofTop + (y.high - std::log10(rate)) * kDecade; }
  double right() const { return kRoofLeft + x.length(); }
  double bottom() const { return kRoofTop + y.length(); }
};

std::string decade_text(double exponent) {
  return exponent < 0 ? fmt::format("{:.{}f}", std::pow(10, exponent), int(-exponent))
                      : fmt::format("{:.0f}", std::pow(10, exponent));
}

void draw_log_axes(SvgDrawing& drawing, const LogAxes& plot, const std::string& x_label) {
  for (double d = plot.x.low; d <= plot.x.high; ++d) {
    const double x = plot.left(std::pow(10, d));
    for (int fine = 2; fine < 10 && d < plot.x.high; ++fine) {
      const double at = plot.left(fine * std::pow(10, d));
      drawing.line(at, kRoofTop, at, plot.bottom(), kPlotFineGrid);
    }
    drawing.line(x, kRoofTop, x, plot.bottom(), kPlotGrid);
    drawing.text(x, plot.bottom() + 18, decade_text(d), {kPlotText, SvgAnchor::kMiddle});
  }
  for (double d = plot.y.low; d <= plot.y.high; ++d) {
    const double y = plot.top(std::pow(10, d));
    for (int fine = 2; fine < 10 && d < plot.y.high; ++fine) {
      const double at = plot.top(fine * std::pow(10, d));
      drawing.line(kRoofLeft, at, plot.right(), at, kPlotFineGrid);
    }
    drawing.line(kRoofLeft, y, plot.right(), y, kPlotGrid);
    drawing.text(kRoofLeft - 8, y + 4, decade_text(d), {kPlotText, SvgAnchor::kEnd});
  }
  drawing.text((kRoofLeft + plot.right()) / 2, plot.bottom() + 42, x_label, {13, SvgAnchor::kMiddle});
  drawing.text(24, (kRoofTop + plot.bottom()) / 2, "MACs per cycle", {13, SvgAnchor::kMiddle, -90});
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool touches(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

// Returns what labels have to keep off: the flat roof and its text.
std::vector<Box> draw_roofs(SvgDrawing& drawing, const LogAxes& plot, const RooflinePlot& limits) {
  const double ridge = limits.macs_per_cycle / limits.bytes_per_cycle;
  const double first = std::max(std::pow(10, plot.x.low), std::pow(10, plot.y.low) / limits.bytes_per_cycle);
  drawing.polyline({{plot.left(first), plot.top(first * limits.bytes_per_cycle)},
                    {plot.left(ridge), plot.top(limits.macs_per_cycle)},
                    {plot.right(), plot.top(limits.macs_per_cycle)}},
                   kPlotLine, 2);
  const std::string peak =
      fmt::format("{:.0f} MACs per cycle ({:.4g} GMAC/s at {:g} MHz)", limits.macs_per_cycle,
                  limits.macs_per_cycle * limits.clock_mhz / 1e3, limits.clock_mhz);
  const double roof = plot.top(limits.macs_per_cycle), width = estimated_text_width(peak, kPlotText);
  drawing.text(plot.right() - 6, roof - 8, peak, {kPlotText, SvgAnchor::kEnd});
  const double middle = std::sqrt(first * ridge);
  drawing.text(plot.left(middle) - 8, plot.top(middle * limits.bytes_per_cycle) - 8,
               fmt::format("{:.4g} bytes per cycle", limits.bytes_per_cycle),
               {kPlotText, SvgAnchor::kMiddle, -45});
  return {{plot.left(ridge), roof - 1, plot.right() - plot.left(ridge), 2},
          {plot.right() - 6 - width, roof - 8 - kPlotText, width, kPlotText + 2}};
}

// Joins marks that would cover each other.
std::vector<RooflineMark> joined(const LogAxes& plot, const std::vector<RooflineMark>& marks) {
  std::vector<RooflineMark> result;
  for (const RooflineMark& mark : marks) {
    const auto near = std::find_if(result.begin(), result.end(), [&](const RooflineMark& other) {
      return std::hypot(plot.left(mark.intensity) - plot.left(other.intensity),
                        plot.top(mark.rate) - plot.top(other.rate)) < 1.6 * kMark &&
             mark.colour == other.colour;
    });
    if (near == result.end()) {
      result.push_back(mark);
    } else {
      near->numbers += "," + mark.numbers;
      near->tooltip += "; " + mark.tooltip;
    }
  }
  return result;
}

void draw_roofline_marks(SvgDrawing& drawing, const LogAxes& plot, const std::vector<RooflineMark>& marks,
                         std::vector<Box> taken) {
  for (const RooflineMark& mark : marks) {
    const double x = plot.left(mark.intensity), y = plot.top(mark.rate);
    drawing.circle(x, y, kMark, mark.colour, mark.tooltip);
    taken.push_back({x - kMark, y - kMark, 2 * kMark, 2 * kMark});
  }
  for (const RooflineMark& mark : marks) {
    const double x = plot.left(mark.intensity), y = plot.top(mark.rate);
    const std::string label = mark.numbers.size() > 24 ? mark.numbers.substr(0, 22) + ".." : mark.numbers;
    const double width = estimated_text_width(label, kPlotText), height = kPlotText;
    Box box;
    // Right of the mark, then left, then ever farther below and above.
    for (int attempt = 0; attempt < 40; ++attempt) {
      const double side = attempt % 2 == 0 ? x + kMark + 2 : x - kMark - 2 - width;
      const double distance = ((attempt + 2) / 4) * 0.75 * height * (attempt % 4 < 2 ? -1 : 1);
      box = {side, y - height / 2 + distance, width, height};
      const bool inside = box.x >= kRoofLeft && box.x + box.width <= plot.right();
      const bool free =
          std::none_of(taken.begin(), taken.end(), [&](const Box& b) { return b.touches(box); });
      if (inside && free) break;
    }
    taken.push_back(box);
    if (std::abs(box.y + height / 2 - y) > height) {
      drawing.line(x, y, box.x < x ? box.x + width : box.x, box.y + height / 2, "#999999", 0.7);
    }
    drawing.text(box.x, box.y + height - 2, label, {kPlotText});
  }
}

}  // namespace

PlotDrawing draw_roofline(const RooflinePlot& roofline) {
  LogAxes plot;
  plot.x.low = plot.x.high = std::floor(std::log10(roofline.macs_per_cycle / roofline.bytes_per_cycle));
  plot.y.low = plot.y.high = std::floor(std::log10(roofline.macs_per_cycle));
  plot.x.enclose(2 * roofline.macs_per_cycle / roofline.bytes_per_cycle);
  plot.y.enclose(1.2 * roofline.macs_per_cycle);
  for (const RooflineMark& mark : roofline.marks) {
    plot.x.enclose(mark.intensity);
    plot.y.enclose(mark.rate);
  }
  PlotDrawing result;
  result.title = roofline.title;
  SvgDrawing& drawing = result.drawing;
  drawing.text(kRoofLeft, 28, roofline.title, {16, SvgAnchor::kStart, 0, true});
  draw_log_axes(drawing, plot, roofline.x_label);
  draw_roofline_marks(drawing, plot, joined(plot, roofline.marks), draw_roofs(drawing, plot, roofline));
  const double x = plot.right() + 32;
  drawing.text(x, kRoofTop, roofline.list_title, {kPlotText, SvgAnchor::kStart, 0, true});
  const std::vector<std::string>& list = roofline.list;
  for (size_t row = 0; row < list.size(); ++row) {
    drawing.text(x + kListColumn * double(row / kRowsPerColumn),
                 kRoofTop + kListRow * double(1 + row % kRowsPerColumn), list[row], {kPlotText});
  }
  const double columns = double(ceil_div(list.size(), kRowsPerColumn));
  const double rows = double(std::min(list.size(), kRowsPerColumn));
  double legend = kRoofLeft;
  const double below = plot.bottom() + 66;
  if (!roofline.legend.empty()) {
    drawing.text(legend, below, roofline.legend_title, {kPlotText, SvgAnchor::kStart, 0, true});
    legend += 82;
  }
  for (const auto& [colour, meaning] : roofline.legend) {
    drawing.circle(legend, below - 4, kMark, colour);
    drawing.text(legend + 10, below, meaning, {kPlotText});
    legend += estimated_text_width(meaning, kPlotText) + 34;
  }
  result.width = std::max(x + kListColumn * columns, legend);
  result.height = std::max(below + 20, kRoofTop + kListRow * (rows + 2));
  return result;
}

}  // namespace tilewright
