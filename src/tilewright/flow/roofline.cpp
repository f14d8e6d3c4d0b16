// Decades are equally long on both axes, so the slanted roof has 45 degrees. Marks that would touch share one
// label of all their numbers; labels that would touch move away from each other.
#include "tilewright/flow/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tilewright/spatial/network/svg.h"
#include "tilewright/spatial/network/text_table.h"

namespace tilewright {
namespace {

constexpr double kLeft = 80, kTop = 56, kDecade = 170, kText = 12, kMark = 5;
constexpr double kRow = 16, kColumn = 330;
constexpr size_t kRowsPerColumn = 40;
constexpr const char* kGrid = "#e4e4e4";
constexpr const char* kFineGrid = "#f3f3f3";
constexpr const char* kRoof = "#333333";
constexpr std::array<const char*, overlay::kCycleCauses> kColours = {
    "#1b7837", "#762a83", "#c2a5cf", "#2166ac", "#67a9cf", "#d6604d", "#b8860b"};

struct Mark {
  double intensity = 0, rate = 0;  // MACs per byte, MACs per cycle
  std::string numbers;
  std::string tooltip;
  const char* colour = kRoof;
};

// Whole decades that enclose all values given so far.
struct Decades {
  double low = 0, high = 1;
  void enclose(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double length() const { return (high - low) * kDecade; }
};

struct Plot {
  Decades x, y;
  double left(double intensity) const { return kLeft + (std::log10(intensity) - x.low) * kDecade; }
  double top(double rate) const { return kTop + (y.high - std::log10(rate)) * kDecade; }
  double right() const { return kLeft + x.length(); }
  double bottom() const { return kTop + y.length(); }
};

std::string decade_text(double exponent) {
  return exponent < 0 ? fmt::format("{:.{}f}", std::pow(10, exponent), int(-exponent))
                      : fmt::format("{:.0f}", std::pow(10, exponent));
}

void draw_axes(SvgDrawing& drawing, const Plot& plot) {
  for (double d = plot.x.low; d <= plot.x.high; ++d) {
    const double x = plot.left(std::pow(10, d));
    for (int fine = 2; fine < 10 && d < plot.x.high; ++fine) {
      const double at = plot.left(fine * std::pow(10, d));
      drawing.line(at, kTop, at, plot.bottom(), kFineGrid);
    }
    drawing.line(x, kTop, x, plot.bottom(), kGrid);
    drawing.text(x, plot.bottom() + 18, decade_text(d), {kText, SvgAnchor::kMiddle});
  }
  for (double d = plot.y.low; d <= plot.y.high; ++d) {
    const double y = plot.top(std::pow(10, d));
    for (int fine = 2; fine < 10 && d < plot.y.high; ++fine) {
      const double at = plot.top(fine * std::pow(10, d));
      drawing.line(kLeft, at, plot.right(), at, kFineGrid);
    }
    drawing.line(kLeft, y, plot.right(), y, kGrid);
    drawing.text(kLeft - 8, y + 4, decade_text(d), {kText, SvgAnchor::kEnd});
  }
  drawing.text((kLeft + plot.right()) / 2, plot.bottom() + 42, "MACs per byte of the busier direction",
               {13, SvgAnchor::kMiddle});
  drawing.text(24, (kTop + plot.bottom()) / 2, "MACs per cycle", {13, SvgAnchor::kMiddle, -90});
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool touches(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

// Returns what labels have to keep off: the flat roof and its text.
std::vector<Box> draw_roofs(SvgDrawing& drawing, const Plot& plot, const NetworkTiming& timing) {
  const MachineLimits& limits = timing.limits;
  const double ridge = limits.macs_per_cycle / limits.bytes_per_cycle;
  const double first = std::max(std::pow(10, plot.x.low), std::pow(10, plot.y.low) / limits.bytes_per_cycle);
  drawing.polyline({{plot.left(first), plot.top(first * limits.bytes_per_cycle)},
                    {plot.left(ridge), plot.top(limits.macs_per_cycle)},
                    {plot.right(), plot.top(limits.macs_per_cycle)}},
                   kRoof, 2);
  const std::string peak =
      fmt::format("{:.0f} MACs per cycle ({:.4g} GMAC/s at {:g} MHz)", limits.macs_per_cycle,
                  limits.macs_per_cycle * timing.hardware.clock_mhz / 1e3, timing.hardware.clock_mhz);
  const double roof = plot.top(limits.macs_per_cycle), width = estimated_text_width(peak, kText);
  drawing.text(plot.right() - 6, roof - 8, peak, {kText, SvgAnchor::kEnd});
  const double middle = std::sqrt(first * ridge);
  drawing.text(plot.left(middle) - 8, plot.top(middle * limits.bytes_per_cycle) - 8,
               fmt::format("{:g} bytes per cycle", limits.bytes_per_cycle), {kText, SvgAnchor::kMiddle, -45});
  return {{plot.left(ridge), roof - 1, plot.right() - plot.left(ridge), 2},
          {plot.right() - 6 - width, roof - 8 - kText, width, kText + 2}};
}

// Joins marks that would cover each other.
std::vector<Mark> joined(const Plot& plot, const std::vector<Mark>& marks) {
  std::vector<Mark> result;
  for (const Mark& mark : marks) {
    const auto near = std::find_if(result.begin(), result.end(), [&](const Mark& other) {
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

void draw_marks(SvgDrawing& drawing, const Plot& plot, const std::vector<Mark>& marks,
                std::vector<Box> taken) {
  for (const Mark& mark : marks) {
    const double x = plot.left(mark.intensity), y = plot.top(mark.rate);
    drawing.circle(x, y, kMark, mark.colour, mark.tooltip);
    taken.push_back({x - kMark, y - kMark, 2 * kMark, 2 * kMark});
  }
  for (const Mark& mark : marks) {
    const double x = plot.left(mark.intensity), y = plot.top(mark.rate);
    const std::string label = mark.numbers.size() > 24 ? mark.numbers.substr(0, 22) + ".." : mark.numbers;
    const double width = estimated_text_width(label, kText), height = kText;
    Box box;
    // Right of the mark, then left, then ever farther below and above.
    for (int attempt = 0; attempt < 40; ++attempt) {
      const double side = attempt % 2 == 0 ? x + kMark + 2 : x - kMark - 2 - width;
      const double distance = ((attempt + 2) / 4) * 0.75 * height * (attempt % 4 < 2 ? -1 : 1);
      box = {side, y - height / 2 + distance, width, height};
      const bool inside = box.x >= kLeft && box.x + box.width <= plot.right();
      const bool free =
          std::none_of(taken.begin(), taken.end(), [&](const Box& b) { return b.touches(box); });
      if (inside && free) break;
    }
    taken.push_back(box);
    if (std::abs(box.y + height / 2 - y) > height) {
      drawing.line(x, y, box.x < x ? box.x + width : box.x, box.y + height / 2, "#999999", 0.7);
    }
    drawing.text(box.x, box.y + height - 2, label, {kText});
  }
}

}  // namespace

std::string roofline_svg(const NetworkTiming& timing) {
  const MachineLimits& limits = timing.limits;
  Plot plot;
  plot.x.low = plot.x.high = std::floor(std::log10(limits.macs_per_cycle / limits.bytes_per_cycle));
  plot.y.low = plot.y.high = std::floor(std::log10(limits.macs_per_cycle));
  plot.x.enclose(2 * limits.macs_per_cycle / limits.bytes_per_cycle);
  plot.y.enclose(1.2 * limits.macs_per_cycle);
  std::vector<Mark> marks;
  std::vector<std::string> list;
  for (size_t l = 0; l < timing.layers.size(); ++l) {
    const overlay::LayerTiming& layer = timing.layers[l];
    const double bytes = limits.bound_bytes(layer.traffic), cycles = double(layer.cycles());
    const std::string numbered = fmt::format("{}  {}", l + 1, shortened_middle(layer.name, 28));
    if (layer.macs == 0 || bytes == 0 || cycles == 0) {
      list.push_back(numbered + "  (no MACs)");
      continue;
    }
    const size_t cause = size_t(layer.bound());
    Mark mark{double(layer.macs) / bytes, double(layer.macs) / cycles, std::to_string(l + 1), "",
              kColours[cause]};
    mark.tooltip = fmt::format("{} {} ({}): {} cycles, {:.4g} MACs per byte, {:.4g} MACs per cycle", l + 1,
                               layer.name, layer.op, layer.cycles(), mark.intensity, mark.rate);
    list.push_back(fmt::format("{}  {:.0f}%", numbered, 100 * mark.rate / limits.macs_per_cycle));
    plot.x.enclose(mark.intensity);
    plot.y.enclose(mark.rate);
    marks.push_back(std::move(mark));
  }
  SvgDrawing drawing;
  const std::string title = fmt::format("{} on {}: {:.1f} % of peak", timing.network, timing.hardware.name,
                                        100 * timing.share_of_peak());
  drawing.text(kLeft, 28, title, {16, SvgAnchor::kStart, 0, true});
  draw_axes(drawing, plot);
  draw_marks(drawing, plot, joined(plot, marks), draw_roofs(drawing, plot, timing));
  double x = plot.right() + 32;
  drawing.text(x, kTop, "layer, share of peak", {kText, SvgAnchor::kStart, 0, true});
  for (size_t row = 0; row < list.size(); ++row) {
    drawing.text(x + kColumn * double(row / kRowsPerColumn), kTop + kRow * double(1 + row % kRowsPerColumn),
                 list[row], {kText});
  }
  const double columns = double((list.size() + kRowsPerColumn - 1) / kRowsPerColumn);
  const double rows = double(std::min(list.size(), kRowsPerColumn));
  double legend = kLeft;
  const double below = plot.bottom() + 66;
  drawing.text(legend, below, "bound by", {kText, SvgAnchor::kStart, 0, true});
  legend += 82;
  for (size_t c = 0; c < kColours.size(); ++c) {
    const std::string cause = overlay::name(overlay::CycleCause(c));
    drawing.circle(legend, below - 4, kMark, kColours[c]);
    drawing.text(legend + 10, below, cause, {kText});
    legend += estimated_text_width(cause, kText) + 34;
  }
  return drawing.document(std::max(x + kColumn * columns, legend),
                          std::max(below + 20, kTop + kRow * (rows + 2)), title);
}

}  // namespace tilewright
