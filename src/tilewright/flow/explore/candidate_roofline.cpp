// Bytes are those of the closed form, which counts them exactly; cycles those of the simulator.
#include "tilewright/flow/explore/candidate_roofline.h"

#include "tilewright/base/error.h"
#include "tilewright/flow/time/network_timing.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/estimate.h"

namespace tilewright {

CandidateRoofline candidate_roofline(const ExplorationNetwork& network, const OverlayHardware& hardware,
                                     const MemoryModel& memory, const TunedCandidate& tuned) {
  const MachineLimits limits = machine_limits(hardware, memory);
  CandidateRoofline roofline{
      hardware.name, limits.macs_per_cycle, limits.bytes_per_cycle, hardware.clock_mhz, {}};
  const auto bytes = [&](const overlay::Tiling& tiling) {
    const overlay::TilingEstimate cost = overlay::estimate_layer(tiling, hardware, memory);
    overlay::LayerTraffic traffic;
    traffic.input_bytes = uint64_t(cost.input_bytes);
    traffic.weight_bytes = uint64_t(cost.weight_bytes);
    traffic.output_bytes = uint64_t(cost.output_bytes);
    return limits.bound_bytes(traffic);
  };
  TILEWRIGHT_CHECK(network.layers.size() == tuned.layers.size(), "schedules of another network");
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const overlay::OverlayLayer& layer = network.layers[i].layer;
    const CandidateLayer& found = tuned.layers[i];
    const overlay::Schedule usual = default_schedule(layer, hardware, {.memory = memory});
    const overlay::OverlayLayer before = scheduled_layer(layer, usual),
                                after = scheduled_layer(layer, found.schedule);
    const overlay::Tiling plain(before, hardware, usual), best(after, hardware, found.schedule);
    roofline.layers.push_back({found.name, layer.macs, found.cycles,
                               int64_t(overlay::layer_cycles(plain, hardware, memory)), bytes(best),
                               bytes(plain)});
  }
  return roofline;
}

}  // namespace tilewright
