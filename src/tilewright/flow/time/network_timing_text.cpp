// The timing as a table: cycles beside the ideal and the roofline, array fill, bytes by kind, and what bounds
// each layer.
#include <fmt/format.h>

#include "tilewright/flow/time/network_timing.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

std::vector<std::string> cells(const std::string& name, const std::string& op, double cycles, double ideal,
                               double fill, double roofline, const overlay::LayerTraffic& traffic,
                               const std::string& bound) {
  const double divisor = cycles > 0 ? cycles : 1;
  return {shortened_middle(name, 28),
          op,
          fmt::format("{:.0f}", cycles),
          fmt::format("{:.0f}", ideal),
          ideal > 0 ? percent_text(ideal / divisor) : "",
          fill > 0 ? percent_text(fill) : "",
          fmt::format("{:.0f}", roofline),
          percent_text(roofline / divisor),
          fmt::format("{}", traffic.input_bytes),
          fmt::format("{}", traffic.weight_bytes),
          fmt::format("{}", traffic.parameter_bytes),
          fmt::format("{}", traffic.uop_bytes + traffic.instruction_bytes),
          fmt::format("{}", traffic.output_bytes),
          bound};
}

}  // namespace

std::string to_string(const NetworkTiming& timing) {
  const MachineLimits& limits = timing.limits;
  TextTable table({"layer", "operator", ">cycles", ">ideal", ">of peak", ">fill", ">roofline", ">of it",
                   ">inputs, B", ">weights, B", ">params, B", ">program, B", ">outputs, B", "bound by"});
  for (const overlay::LayerTiming& layer : timing.layers) {
    table.row(cells(layer.name, layer.op, double(layer.cycles()), limits.ideal_cycles(layer.macs),
                    timing.array_fill(layer), limits.roofline_cycles(layer.macs, layer.traffic),
                    layer.traffic, name(layer.bound())));
  }
  const double cycles = double(timing.cycles());
  table.rule();
  table.row(cells("all", fmt::format("{} layers", timing.layers.size()), cycles, timing.ideal_cycles(), 0,
                  timing.roofline_cycles(), timing.traffic(), ""));
  std::string text =
      fmt::format("{} on {} at {:g} MHz: at best {:.0f} MACs and {:g} bytes{} per cycle\n", timing.network,
                  timing.hardware.name, timing.hardware.clock_mhz, limits.macs_per_cycle,
                  limits.bytes_per_cycle, limits.shared_bus ? "" : " each way");
  text += table.to_string();
  text += fmt::format("{:.0f} cycles, {:.3f} ms: {} of peak, {} of the roofline; {} bytes moved\n", cycles,
                      cycles / (timing.hardware.clock_mhz * 1e3), percent_text(timing.share_of_peak()),
                      percent_text(timing.roofline_cycles() / cycles), timing.traffic().total());
  if (timing.host.nodes > 0) {
    const double all = cycles / (timing.hardware.clock_mhz * 1e6) + timing.host.seconds();
    text += fmt::format(
        "with the host, {:.3f} ms: {} of it for {} node{} there ({} MACs), {} to hand over {} bytes in {} "
        "turn{}, "
        "estimated\n",
        1e3 * all, percent_text(timing.host.node_seconds / all), timing.host.nodes,
        timing.host.nodes == 1 ? "" : "s", timing.host.macs, percent_text(timing.host.crossing_seconds / all),
        timing.host.crossing_bytes, timing.host.turns, timing.host.turns == 1 ? "" : "s");
  }
  return text;
}

}  // namespace tilewright
