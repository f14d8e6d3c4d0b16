// Each overlay step is compiled and run once on the cycle simulator; totals are sums over its layers. Peak
// bytes per cycle follow from the width of the port and the memory's beat interval.
#include "tilewright/flow/time/network_timing.h"

#include <algorithm>
#include <numeric>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/overlay/program/program_timing.h"

namespace tilewright {

double MachineLimits::bound_bytes(const overlay::LayerTraffic& traffic) const {
  const uint64_t read = traffic.input_bytes + traffic.weight_bytes;
  return double(shared_bus ? read + traffic.output_bytes : std::max(read, traffic.output_bytes));
}

double MachineLimits::roofline_cycles(int64_t macs, const overlay::LayerTraffic& traffic) const {
  return std::max(ideal_cycles(macs), memory_cycles(traffic));
}

MachineLimits machine_limits(const OverlayHardware& hardware, const MemoryModel& memory) {
  MachineLimits limits;
  limits.macs_per_cycle = double(hardware.macs_per_uop());
  const double beat = hardware.memory_width_bits / 8.0;
  switch (memory.kind) {
    case MemoryModelKind::kIdeal:
      limits.bytes_per_cycle = beat;
      break;
    case MemoryModelKind::kFixed:
      limits.bytes_per_cycle = beat / memory.beat_interval;
      break;
    case MemoryModelKind::kDdr:
      limits.bytes_per_cycle = beat / memory.ddr.beat_interval;
      limits.shared_bus = true;
      break;
  }
  return limits;
}

uint64_t NetworkTiming::cycles() const {
  uint64_t total = 0;
  for (const overlay::LayerTiming& layer : layers) total += layer.cycles();
  return total;
}

int64_t NetworkTiming::macs() const {
  int64_t total = 0;
  for (const overlay::LayerTiming& layer : layers) total += layer.macs;
  return total;
}

overlay::LayerTraffic NetworkTiming::traffic() const {
  overlay::LayerTraffic total;
  for (const overlay::LayerTiming& layer : layers) {
    total.instruction_bytes += layer.traffic.instruction_bytes;
    total.uop_bytes += layer.traffic.uop_bytes;
    total.input_bytes += layer.traffic.input_bytes;
    total.weight_bytes += layer.traffic.weight_bytes;
    total.parameter_bytes += layer.traffic.parameter_bytes;
    total.output_bytes += layer.traffic.output_bytes;
  }
  return total;
}

std::array<uint64_t, overlay::kCycleCauses> NetworkTiming::caused() const {
  std::array<uint64_t, overlay::kCycleCauses> total{};
  for (const overlay::LayerTiming& layer : layers) {
    for (size_t c = 0; c < total.size(); ++c) total[c] += layer.caused[c];
  }
  return total;
}

double NetworkTiming::array_fill(const overlay::LayerTiming& layer) const {
  return layer.gemm_uops == 0 ? 0 : limits.ideal_cycles(layer.macs) / double(layer.gemm_uops);
}

double NetworkTiming::roofline_cycles() const {
  double total = 0;
  for (const overlay::LayerTiming& layer : layers) {
    total += limits.roofline_cycles(layer.macs, layer.traffic);
  }
  return total;
}

NetworkTiming time_network(const Bundle& bundle, const MemoryModel& memory, const Deadline* deadline) {
  Diagnostics diagnostics;
  memory.verify(diagnostics);
  diagnostics.raise_if_any("memory model");
  NetworkTiming timing;
  timing.network = bundle.graph.name;
  timing.hardware = bundle.hardware;
  timing.memory = memory;
  timing.limits = machine_limits(bundle.hardware, memory);
  timing.host = host_work(bundle);
  for (const PartitionStep& step : bundle.steps()) {
    if (deadline) deadline->check();
    if (step.on_host()) continue;
    overlay::OverlayProgram program =
        overlay::compile_overlay(bundle.graph, step.nodes, bundle.hardware, bundle.schedules);
    if (program.layers.empty()) continue;
    overlay::ProgramTiming part = overlay::time_program(program, memory, deadline);
    timing.programs.push_back(std::move(part.run));
    std::move(part.layers.begin(), part.layers.end(), std::back_inserter(timing.layers));
  }
  if (timing.layers.empty()) {
    throw Error(ErrorKind::kUnsupported,
                "no layer of the bundle runs on the overlay: there is nothing to time",
                "'tilewright compile' says why, layer by layer");
  }
  return timing;
}

}  // namespace tilewright
