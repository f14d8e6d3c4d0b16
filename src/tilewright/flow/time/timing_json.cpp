// Per layer its cycles against ideal and roofline, their causes, its work and its traffic; then the totals.
#include "tilewright/flow/time/timing_json.h"

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"

namespace tilewright {
namespace {

nlohmann::json timed_layer_json(const NetworkTiming& timing, const overlay::LayerTiming& layer) {
  const overlay::LayerTraffic& traffic = layer.traffic;
  const double cycles = double(layer.cycles());
  const double roofline = timing.limits.roofline_cycles(layer.macs, traffic);
  nlohmann::json caused;
  for (size_t c = 0; c < overlay::kCycleCauses; ++c) {
    caused[overlay::name(overlay::CycleCause(c))] = layer.caused[c];
  }
  return {{"layer", layer.name},
          {"op", layer.op},
          {"macs", layer.macs},
          {"cycles", layer.cycles()},
          {"ideal_cycles", timing.limits.ideal_cycles(layer.macs)},
          {"share_of_peak", timing.limits.ideal_cycles(layer.macs) / cycles},
          {"array_fill", timing.array_fill(layer)},
          {"roofline_cycles", roofline},
          {"share_of_roofline", roofline / cycles},
          {"bound_by", overlay::name(layer.bound())},
          {"cycles_by_cause", caused},
          {"instructions", layer.instructions},
          {"gemm_uops", layer.gemm_uops},
          {"alu_uops", layer.alu_uops},
          {"bytes",
           {{"inputs", traffic.input_bytes},
            {"weights", traffic.weight_bytes},
            {"parameters", traffic.parameter_bytes},
            {"uops", traffic.uop_bytes},
            {"instructions", traffic.instruction_bytes},
            {"outputs", traffic.output_bytes}}},
          {"schedule", overlay::print_schedule(layer.schedule)}};
}

}  // namespace

nlohmann::json timing_json(const NetworkTiming& timing) {
  nlohmann::json layers = nlohmann::json::array();
  for (const overlay::LayerTiming& layer : timing.layers) layers.push_back(timed_layer_json(timing, layer));
  return {{"network", timing.network},
          {"hardware", timing.hardware.name},
          {"macs_per_cycle", timing.limits.macs_per_cycle},
          {"bytes_per_cycle", timing.limits.bytes_per_cycle},
          {"shared_bus", timing.limits.shared_bus},
          {"cycles", timing.cycles()},
          {"ideal_cycles", timing.ideal_cycles()},
          {"roofline_cycles", timing.roofline_cycles()},
          {"share_of_peak", timing.share_of_peak()},
          {"bytes", timing.traffic().total()},
          {"host_nodes", timing.host.nodes},
          {"host_macs", timing.host.macs},
          {"host_seconds", timing.host.node_seconds},
          {"crossing_bytes", timing.host.crossing_bytes},
          {"turns", timing.host.turns},
          {"crossing_seconds", timing.host.crossing_seconds},
          {"layers", layers}};
}

std::string to_json(const NetworkTiming& timing) { return json_text(timing_json(timing), 2) + "\n"; }

}  // namespace tilewright
