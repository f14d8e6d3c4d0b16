// The page of a tuning: search curves as shares of each layer's bound, six layers to a panel; a roofline with
// every layer before and after; the table of layers.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "tilewright/flow/tune/tuning.h"
#include "tilewright/report/html_page.h"
#include "tilewright/report/line_chart.h"
#include "tilewright/report/roofline_plot.h"

namespace tilewright {
namespace {

// Share of the layer's bound that the best schedule had reached after each trial.
PlotLine bound_curve(const TunedLayer& layer) {
  PlotLine line;
  const std::vector<double> best = layer.result.best_so_far();
  for (size_t i = 0; i < best.size(); ++i) {
    const double share = std::isfinite(best[i]) ? 100 * layer.bound_cycles / best[i]
                                                : std::numeric_limits<double>::quiet_NaN();
    line.emplace_back(double(i + 1), share);
  }
  return line;
}

PlotDrawing draw_curves(const NetworkTuning& tuning) {
  constexpr size_t kLayersPerPanel = 6;
  std::vector<LinePanel> panels;
  for (size_t first = 0; first < tuning.layers.size(); first += kLayersPerPanel) {
    LinePanel panel{"", "trials", "share of the layer's bound, %", {}};
    const size_t end = std::min(first + kLayersPerPanel, tuning.layers.size());
    for (size_t l = first; l < end; ++l) {
      panel.title += (l == first ? "" : ", ") + std::to_string(l + 1);
      panel.series.push_back({"", {bound_curve(tuning.layers[l])}});
    }
    panel.title = "layers " + panel.title;
    panels.push_back(std::move(panel));
  }
  for (size_t s = 0; s < panels.front().series.size(); ++s) {
    panels.front().series[s].name = fmt::format("{} of a panel", s + 1);
  }
  return draw_lines("Best schedule so far", panels);
}

PlotDrawing draw_before_and_after(const NetworkTuning& tuning) {
  const NetworkTiming& after = tuning.after;
  std::map<std::string, const overlay::LayerTiming*> before;
  for (const overlay::LayerTiming& layer : tuning.before.layers) before[layer.name] = &layer;
  RooflinePlot plot;
  plot.title = after.network + " on " + after.hardware.name;
  plot.x_label = "MACs per byte of the busier direction";
  plot.list_title = "layer, share of peak before and after";
  plot.macs_per_cycle = after.limits.macs_per_cycle;
  plot.bytes_per_cycle = after.limits.bytes_per_cycle;
  plot.clock_mhz = after.hardware.clock_mhz;
  for (size_t l = 0; l < after.layers.size(); ++l) {
    const overlay::LayerTiming& layer = after.layers[l];
    const auto was = before.find(layer.name);
    if (was == before.end()) continue;
    const overlay::LayerTiming& old = *was->second;
    add_before_and_after(plot, l + 1,
                         {layer.name, layer.macs, int64_t(layer.cycles()), int64_t(old.cycles()),
                          after.limits.bound_bytes(layer.traffic), after.limits.bound_bytes(old.traffic)});
  }
  return draw_roofline(plot);
}

std::string tuned_layer_table(const NetworkTuning& tuning) {
  HtmlTable table(
      {">#", "layers", "operator", ">trials", ">cycles before", ">after", ">bound", ">of bound", "schedule"});
  for (size_t l = 0; l < tuning.layers.size(); ++l) {
    const TunedLayer& layer = tuning.layers[l];
    std::string names = layer.names.front();
    if (layer.count() > 1) names += fmt::format(" and {} more", layer.count() - 1);
    table.row({std::to_string(l + 1), names, layer.op, std::to_string(layer.result.end.trials),
               fmt::format("{:.0f}", layer.before_cycles), fmt::format("{:.0f}", layer.after_cycles),
               fmt::format("{:.0f}", layer.bound_cycles),
               fmt::format("{:.1f} %", 100 * layer.bound_cycles / layer.after_cycles),
               overlay::print_schedule(layer.after)});
  }
  return table.html();
}

}  // namespace

std::string tuning_page(const NetworkTuning& tuning) {
  const double before = double(tuning.before.cycles()), after = double(tuning.after.cycles());
  std::string body = "<dl>\n";
  body += html_fact("cycles before", fmt::format("{:.0f}", before));
  body += html_fact("cycles after", fmt::format("{:.0f}", after));
  body += html_fact("faster", fmt::format("{:.3f}x", before / after));
  body += html_fact("share of peak", fmt::format("{:.1f} %", 100 * tuning.after.share_of_peak()));
  body += html_fact("searched", fmt::format("{:.1f} s", tuning.seconds)) + "</dl>\n";
  body += html_heading("Roofline") +
          html_figure(draw_before_and_after(tuning), "Roofline",
                      "Small marks: before tuning. Layers in the network, one after the other.");
  body +=
      html_heading("Search") + html_figure(draw_curves(tuning), "Best schedule so far",
                                           "Each layer alone, as measured; numbers are those of the table.");
  body += html_heading("Layers") + tuned_layer_table(tuning);
  return html_page("Tuning of " + tuning.after.network + " on " + tuning.after.hardware.name, body);
}

}  // namespace tilewright
