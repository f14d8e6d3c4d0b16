// Bars are as wide as the larger of need and device; lanes share one axis of cycles.
#include "tilewright/flow/design/design_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/report/plot_style.h"
#include "tilewright/report/roofline_plot.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr const char* kNeed = "#3f83bf";
constexpr const char* kOver = "#d6604d";
// Neighbouring layers differ; each works on white and on black.
constexpr std::array<const char*, 6> kLayers = {"#3f83bf", "#d6604d", "#2f9e5b",
                                                "#b8860b", "#8e6bbf", "#67888a"};
constexpr const char* kWaiting = "#9a9a9a";

std::string layer_colour(int layer) { return layer < 0 ? kWaiting : kLayers[size_t(layer) % kLayers.size()]; }

std::string bar_text(const DesignReport& report, const DesignBar& bar) {
  const std::string what = bar.layer < 0
                               ? report.lanes[size_t(bar.lane)]
                               : fmt::format("{} {}", bar.layer + 1, report.layers[size_t(bar.layer)].name);
  const std::string rows =
      bar.rows > 0 ? fmt::format(", rows {} to {}", bar.first_row, bar.first_row + bar.rows - 1) : "";
  return fmt::format("{}{}: cycles {} to {}, {} of them its own work", what, rows, bar.begin, bar.end,
                     bar.work);
}

}  // namespace

PlotDrawing draw_utilisation(const DesignReport& report) {
  constexpr double kLeft = 90, kWidth = 420, kHeight = 18, kStep = 30, kTop = 12;
  PlotDrawing result;
  double y = kTop;
  for (const DesignNeed& need : report.needs) {
    const double scale = kWidth / double(std::max<int64_t>({need.need, need.have, need.budget, 1}));
    result.drawing.text(kLeft - 10, y + 13, need.resource, {kPlotText, SvgAnchor::kEnd});
    result.drawing.rectangle(kLeft, y, double(need.have) * scale, kHeight, kPlotGrid,
                             fmt::format("the device has {}", need.have));
    result.drawing.rectangle(
        kLeft, y, double(need.need) * scale, kHeight, need.need > need.budget ? kOver : kNeed,
        need.error_percent < 0 ? fmt::format("the design needs {}", need.need)
                               : fmt::format("the design needs {}, estimated with an error of up to {:.1f} %",
                                             need.need, need.error_percent));
    const double limit = kLeft + double(need.budget) * scale;
    result.drawing.line(limit, y - 3, limit, y + kHeight + 3, kPlotLine, 1.5);
    const std::string share =
        need.budget > 0 ? fmt::format(" ({:.1f} %)", 100 * double(need.need) / double(need.budget)) : "";
    result.drawing.text(kLeft + kWidth + 14, y + 13, fmt::format("{} of {}{}", need.need, need.budget, share),
                        {kPlotText});
    y += kStep;
  }
  result.width = kLeft + kWidth + 220;
  result.height = y + 4;
  return result;
}

PlotDrawing draw_lanes(const DesignReport& report) {
  constexpr double kLeft = 170, kWidth = 820, kHeight = 20, kStep = 28, kTop = 10;
  PlotDrawing result;
  SvgDrawing& drawing = result.drawing;
  int64_t last = 1;
  for (const DesignBar& bar : report.bars) last = std::max(last, bar.end);
  const std::vector<double> ticks = axis_ticks(double(last));
  const double scale = kWidth / ticks.back(), bottom = kTop + kStep * double(report.lanes.size());
  for (const double tick : ticks) {
    drawing.line(kLeft + tick * scale, kTop - 4, kLeft + tick * scale, bottom, kPlotGrid);
    drawing.text(kLeft + tick * scale, bottom + 16, tick_text(tick, ticks[1]),
                 {kPlotText, SvgAnchor::kMiddle});
  }
  drawing.text(kLeft + kWidth / 2, bottom + 36, "cycles", {kPlotText, SvgAnchor::kMiddle});
  for (size_t lane = 0; lane < report.lanes.size(); ++lane) {
    drawing.text(kLeft - 10, kTop + kStep * double(lane) + 14, shortened_middle(report.lanes[lane], 24),
                 {kPlotText, SvgAnchor::kEnd});
  }
  for (const DesignBar& bar : report.bars) {
    const double y = kTop + kStep * double(bar.lane), begin_at = double(bar.begin) * scale;
    const double work_from = double(bar.end - bar.work) * scale, to = double(bar.end) * scale;
    const std::string words = bar_text(report, bar);
    if (work_from > begin_at) {
      drawing.rectangle(kLeft + begin_at, y + kHeight / 2 - 2, work_from - begin_at, 4, kWaiting, words);
    }
    drawing.rectangle(kLeft + work_from, y, std::max(to - work_from, 0.3), kHeight, layer_colour(bar.layer),
                      words);
    const std::string number = std::to_string(bar.layer + 1);
    if (bar.layer >= 0 && to - work_from > estimated_text_width(number, 11) + 4) {
      drawing.text(kLeft + (work_from + to) / 2, y + 14, number,
                   {11, SvgAnchor::kMiddle, 0, false, "#ffffff"});
    }
  }
  result.width = kLeft + kWidth + 40;
  result.height = bottom + 46;
  return result;
}

RooflinePlot design_roofline(const DesignReport& report) {
  RooflinePlot plot;
  plot.title = fmt::format("{:.1f} % of peak", 100 * report.share_of_peak());
  plot.x_label = "MACs per byte of memory traffic in the busier direction";
  plot.list_title = "layer, share of its array's peak";
  plot.macs_per_cycle = double(std::max<int64_t>(report.multipliers, 1));
  plot.bytes_per_cycle = double(report.channels * report.port_bytes);
  plot.clock_mhz = report.clock_mhz;
  plot.legend_title = "marks";
  const auto mark = [&](const std::string& number, const std::string& name, int64_t macs, int64_t bytes,
                        int64_t cycles, const std::string& colour) {
    if (macs == 0 || bytes == 0 || cycles == 0) return;
    RooflineMark m{double(macs) / double(bytes), double(macs) / double(cycles), number, "", colour};
    m.tooltip = fmt::format("{}: {} cycles, {:.4g} MACs per byte, {:.4g} MACs per cycle", name, cycles,
                            m.intensity, m.rate);
    plot.marks.push_back(std::move(m));
  };
  for (size_t l = 0; l < report.layers.size(); ++l) {
    const DesignLayer& layer = report.layers[l];
    const std::string number = std::to_string(l + 1);
    mark(number, layer.name, layer.macs, layer.weight_bytes, layer.own_cycles(), kLayers[0]);
    plot.list.push_back(
        fmt::format("{}  {}", number, shortened_middle(layer.name, 28)) +
        (layer.multipliers > 0 ? fmt::format("  {:.0f}%", 100 * layer.share_of_peak) : "  (no MACs)"));
  }
  if (!plot.marks.empty()) plot.legend.emplace_back(kLayers[0], "a layer and its weights");
  mark("all", "the whole design", report.macs, report.one_way_bytes, report.interval(), kLayers[1]);
  plot.legend.emplace_back(kLayers[1], "the whole design");
  return plot;
}

PlotDrawing draw_design_roofline(const DesignReport& report) {
  return draw_roofline(design_roofline(report));
}

}  // namespace tilewright
