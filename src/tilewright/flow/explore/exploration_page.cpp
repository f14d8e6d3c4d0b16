// page.html: the front over all candidates and how it was approached; per operand width the chosen machines
// and the layers on the fastest of them, before and after tuning; then how much each knob matters, width
// beside width.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/flow/explore/exploration_plots.h"
#include "tilewright/report/bar_chart.h"
#include "tilewright/report/html_page.h"
#include "tilewright/report/line_chart.h"
#include "tilewright/report/roofline_plot.h"

namespace tilewright {
namespace {

std::string summary(const WidthReport& w) {
  std::string text = "<dl>";
  text += html_fact("candidates that fit", fmt::format("{} of {}", w.fitting, w.valid));
  text += html_fact("tuned", fmt::format("{}", w.evaluated));
  text += html_fact("excluded by their bound", fmt::format("{}", w.pruned));
  text += html_fact("left", w.exhausted ? "none: the front is complete" : fmt::format("{}", w.alive));
  text += html_fact("work saved", fmt::format("{:.1f} %", 100 * w.work_saved()));
  return text + "</dl>";
}

std::string members(const WidthReport& w) {
  HtmlTable table({"overlay", "> ms", "> share of bound", "> GOPS", "> MHz (estimated)", "> LUT", "> FF",
                   "> DSP", "> BRAM", "> of device"});
  for (const ExploredCandidate& c : w.candidates) {
    if (!c.on_front) continue;
    table.row({c.hardware, fmt::format("{:.3f}", 1e3 * c.latency_s),
               fmt::format("{:.1f} %", 100 * c.bound_s / c.latency_s),
               fmt::format("{:.1f}", 2e-9 * double(w.macs) / c.latency_s), fmt::format("{:.0f}", c.clock_mhz),
               fmt::format("{}", c.lut), fmt::format("{}", c.ff), fmt::format("{}", c.dsp),
               fmt::format("{}", c.bram), fmt::format("{:.1f} %", 100 * c.utilisation)});
  }
  return table.html();
}

}  // namespace

PlotDrawing draw_front(const ExplorationReport& report) {
  LinePanel panel;
  panel.title = "front: latency against the scarcest resource";
  panel.x_label = "% of the device";
  panel.y_label = "latency, ms";
  panel.x_from_zero = false;
  for (const WidthReport& w : report.widths) {
    LineSeries series{fmt::format("w{0}a{0}", w.operand_bits), {}, LineStyle::kFront};
    PlotLine steps;
    for (const ExploredCandidate& c : w.candidates) {
      if (c.on_front) steps.emplace_back(100 * c.utilisation, 1e3 * c.latency_s);
    }
    std::sort(steps.begin(), steps.end());
    if (steps.empty()) continue;
    series.lines.push_back(std::move(steps));
    panel.series.push_back(std::move(series));
  }
  return draw_lines(fmt::format("{} on {}", report.model, report.device), {panel});
}

PlotDrawing draw_best_so_far(const ExplorationReport& report) {
  LinePanel panel;
  panel.title = "the fastest overlay so far";
  panel.x_label = "candidates tuned";
  panel.y_label = "latency, ms";
  for (const WidthReport& w : report.widths) {
    PlotLine line;
    for (size_t i = 0; i < w.best_so_far_s.size(); ++i) {
      const double best_s = w.best_so_far_s[i];
      line.emplace_back(double(i + 1), best_s > 0 ? 1e3 * best_s : std::numeric_limits<double>::quiet_NaN());
    }
    if (!w.candidates.empty()) panel.series.push_back({fmt::format("w{0}a{0}", w.operand_bits), {line}});
  }
  return draw_lines(fmt::format("{} on {}", report.model, report.device), {panel});
}

PlotDrawing draw_fastest(const WidthReport& width) {
  const CandidateRoofline& fastest = width.fastest;
  RooflinePlot plot;
  plot.title = fastest.hardware;
  plot.x_label = "MACs per byte of the busier direction";
  plot.list_title = "layer, share of peak before and after";
  plot.macs_per_cycle = fastest.macs_per_cycle;
  plot.bytes_per_cycle = fastest.bytes_per_cycle;
  plot.clock_mhz = fastest.clock_mhz;
  for (size_t l = 0; l < fastest.layers.size(); ++l) add_before_and_after(plot, l + 1, fastest.layers[l]);
  return draw_roofline(plot);
}

PlotDrawing draw_knob_importance(const ExplorationReport& report) {
  BarChart chart;
  chart.y_label = "share of the gain";
  for (const WidthReport& w : report.widths) {
    if (!w.importance.empty()) chart.series.push_back(fmt::format("w{0}a{0}", w.operand_bits));
  }
  for (size_t k = 0; !report.widths.empty() && k < report.widths[0].knobs.size(); ++k) {
    BarGroup& group = chart.groups.emplace_back();
    group.label = report.widths[0].knobs[k];
    for (const WidthReport& w : report.widths) {
      if (!w.importance.empty()) group.values.push_back(w.importance[k]);
    }
  }
  return draw_bars("what decides how far latency lies above its bound", {chart});
}

std::string exploration_page(const ExplorationReport& report) {
  std::string body = fmt::format(
      "<p>Latency is that of the cycle simulator at an estimated clock (within {:.0f} %); areas are those of "
      "the area model.</p>",
      100 * report.clock_error);
  const bool members_there = std::any_of(report.widths.begin(), report.widths.end(),
                                         [](const WidthReport& w) { return !w.candidates.empty(); });
  if (members_there) {
    body += html_figure(draw_front(report), "Front",
                        "No candidate of the space is known to be faster and smaller.") +
            html_figure(draw_best_so_far(report), "Best latency so far",
                        "Latency of the fastest overlay of each operand width, in the order of tuning.");
  }
  for (const WidthReport& w : report.widths) {
    body += html_heading(fmt::format("w{0}a{0}", w.operand_bits)) + summary(w) + members(w);
    if (w.fastest.layers.empty()) continue;
    body += html_figure(draw_fastest(w), "Roofline of the fastest overlay",
                        "Small marks: default schedules. Each distinct layer alone, as measured.");
  }
  const bool importance_there = std::any_of(report.widths.begin(), report.widths.end(),
                                            [](const WidthReport& w) { return !w.importance.empty(); });
  if (importance_there) {
    body += html_figure(draw_knob_importance(report), "Importance of the knobs",
                        "Share of each knob in the gain of the model's trees.");
  }
  return html_page(fmt::format("{} on {}", report.model, report.device), body);
}

}  // namespace tilewright
