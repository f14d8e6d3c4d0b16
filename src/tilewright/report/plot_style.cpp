// Colours are those of Okabe and Ito.
#include "tilewright/report/plot_style.h"

#include <array>

namespace tilewright {
namespace {

constexpr const char* kGrey = "#bbbbbb";
constexpr const char* kBlue = "#0072b2";
constexpr const char* kSky = "#56b4e9";
constexpr const char* kGreen = "#009e73";
constexpr const char* kYellow = "#f0e442";
constexpr const char* kOrange = "#e69f00";
constexpr const char* kRed = "#d55e00";
constexpr const char* kPink = "#cc79a7";

constexpr std::array<std::array<const char*, 8>, 3> kPalettes = {
    {{kBlue, kRed, kGreen, kPink, kOrange, kSky, kGrey, kYellow},
     {kGrey, kBlue, kSky, kGreen, kYellow, kOrange, kRed, kPink},
     {kGrey, kOrange, kGreen, kPink, kBlue, kSky, kRed, kYellow}}};

// Where `value` lies between the first and the last tick: 0 to 1.
double share_of(const std::vector<double>& ticks, double value) {
  return (value - ticks.front()) / (ticks.back() - ticks.front());
}

}  // namespace

const char* plot_colour(size_t series, int palette) {
  const auto& colours = kPalettes[size_t(palette) % kPalettes.size()];
  return colours[series % colours.size()];
}

double LinearAxes::x(double value) const { return left + width * share_of(x_ticks, value); }
double LinearAxes::y(double value) const { return bottom() - height * share_of(y_ticks, value); }

void draw_x_axis(SvgDrawing& drawing, const LinearAxes& axes, const std::string& label) {
  const double step = axes.x_ticks[1] - axes.x_ticks[0];
  for (const double tick : axes.x_ticks) {
    drawing.line(axes.x(tick), axes.top, axes.x(tick), axes.bottom(), kPlotGrid);
    drawing.text(axes.x(tick), axes.bottom() + 18, tick_text(tick, step), {kPlotText, SvgAnchor::kMiddle});
  }
  drawing.line(axes.left, axes.top, axes.left, axes.bottom(), kPlotLine);
  drawing.text(axes.left + axes.width / 2, axes.bottom() + 38, label, {kPlotText, SvgAnchor::kMiddle});
}

void draw_y_axis(SvgDrawing& drawing, const LinearAxes& axes, const std::string& label) {
  const double step = axes.y_ticks[1] - axes.y_ticks[0];
  for (const double tick : axes.y_ticks) {
    drawing.line(axes.left, axes.y(tick), axes.right(), axes.y(tick), kPlotGrid);
    drawing.text(axes.left - 8, axes.y(tick) + 4, tick_text(tick, step), {kPlotText, SvgAnchor::kEnd});
  }
  drawing.line(axes.left, axes.bottom(), axes.right(), axes.bottom(), kPlotLine);
  drawing.text(axes.left - 56, axes.top + axes.height / 2, label, {kPlotText, SvgAnchor::kMiddle, -90});
}

std::vector<double> enclosing_ticks(double lowest, double highest, bool from_zero) {
  return from_zero || !(lowest < highest) ? axis_ticks(highest) : range_ticks(lowest, highest);
}

}  // namespace tilewright
