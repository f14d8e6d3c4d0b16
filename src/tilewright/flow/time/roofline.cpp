// A mark for every layer with MACs; its colour says what bounds it.
#include "tilewright/flow/time/roofline.h"

#include <fmt/format.h>

#include <array>

#include "tilewright/report/roofline_plot.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr std::array<const char*, overlay::kCycleCauses> kColours = {
    "#1b7837", "#762a83", "#c2a5cf", "#2166ac", "#67a9cf", "#d6604d", "#b8860b"};

}  // namespace

std::string roofline_svg(const NetworkTiming& timing) {
  const MachineLimits& limits = timing.limits;
  RooflinePlot plot;
  plot.title = fmt::format("{} on {}: {:.1f} % of peak", timing.network, timing.hardware.name,
                           100 * timing.share_of_peak());
  plot.x_label = "MACs per byte of the busier direction";
  plot.list_title = "layer, share of peak";
  plot.legend_title = "bound by";
  plot.macs_per_cycle = limits.macs_per_cycle;
  plot.bytes_per_cycle = limits.bytes_per_cycle;
  plot.clock_mhz = timing.hardware.clock_mhz;
  for (size_t l = 0; l < timing.layers.size(); ++l) {
    const overlay::LayerTiming& layer = timing.layers[l];
    const double bytes = limits.bound_bytes(layer.traffic), cycles = double(layer.cycles());
    const std::string numbered = fmt::format("{}  {}", l + 1, shortened_middle(layer.name, 28));
    if (layer.macs == 0 || bytes == 0 || cycles == 0) {
      plot.list.push_back(numbered + "  (no MACs)");
      continue;
    }
    RooflineMark mark{double(layer.macs) / bytes, double(layer.macs) / cycles, std::to_string(l + 1), "",
                      kColours[size_t(layer.bound())]};
    mark.tooltip = fmt::format("{} {} ({}): {} cycles, {:.4g} MACs per byte, {:.4g} MACs per cycle", l + 1,
                               layer.name, layer.op, layer.cycles(), mark.intensity, mark.rate);
    plot.list.push_back(fmt::format("{}  {:.0f}%", numbered, 100 * mark.rate / limits.macs_per_cycle));
    plot.marks.push_back(std::move(mark));
  }
  for (size_t c = 0; c < kColours.size(); ++c) {
    plot.legend.emplace_back(kColours[c], overlay::name(overlay::CycleCause(c)));
  }
  return draw_roofline(plot).document();
}

}  // namespace tilewright
