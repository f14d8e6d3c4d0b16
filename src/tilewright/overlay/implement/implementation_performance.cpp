// Builds the layer by hand, with 1-bit weights, and runs its default schedule on the cycle simulator with at
// least 64 MiB of memory. Rows with equal descriptions, compared as text without name and memory partition,
// are simulated once.
#include "tilewright/overlay/implement/implementation_performance.h"

#include <algorithm>
#include <map>

#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/schedule.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kConvImages = 2, kConvChannels = 32, kConvSize = 14, kConvKernel = 3,
                  kConvOutput = kConvSize - kConvKernel + 1;

OverlayLayer performance_layer() {
  OverlayLayer layer;
  layer.name = "performance";
  layer.batch = kConvImages;
  layer.out_channels = kConvChannels;
  layer.sources = {{0, kConvChannels, kConvSize, kConvSize}};
  layer.out_height = layer.out_width = kConvOutput;
  layer.weights = Tensor(ElementType::kI8, Shape{kConvChannels, kConvChannels, kConvKernel * kConvKernel});
  layer.weight_bits = 1;
  layer.input_magnitude = 1;
  layer.weight_positions = int(kConvKernel * kConvKernel);
  layer.weight_magnitude.assign(size_t(kConvChannels), 0);
  TapGrid grid{.ny = int(kConvKernel), .nx = int(kConvKernel)};
  grid.dy_step = grid.dx_step = 1;
  grid.weight_step_y = int(kConvKernel);
  grid.weight_step_x = 1;
  layer.phases.push_back({0, 0, {grid}});
  layer.output.bias.assign(size_t(kConvChannels), 0);
  layer.output.scale = {{1, 4}};
  layer.output.clip_low = 0;
  layer.output.clip_high = 1;
  layer.macs = performance_operations() / 2;
  return layer;
}

}  // namespace

int64_t performance_operations() {
  return 2 * kConvImages * kConvOutput * kConvOutput * kConvChannels * kConvChannels * kConvKernel *
         kConvKernel;
}

uint64_t performance_cycles(const OverlayHardware& hardware) {
  if (hardware.block_in < hardware.block_out) return 0;
  OverlayHardware roomy = hardware;
  roomy.dram_bytes = std::max(hardware.dram_bytes, int64_t{1} << 26);
  const OverlayLayer layer = performance_layer();
  try {
    const Schedule schedule = default_schedule(layer, roomy);
    return layer_cycles(Tiling(layer, roomy, schedule), roomy, {});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInfeasible) throw;
    return 0;
  }
}

LayerBound performance_bound(const OverlayHardware& hardware) {
  return layer_bound(performance_layer(), hardware);
}

void add_performance(std::vector<ImplementationRow>& rows) {
  std::map<std::string, uint64_t> known;
  for (ImplementationRow& row : rows) {
    OverlayHardware timed = row.hardware;
    timed.name = "overlay";
    timed.memory_partition = {};
    const std::string text = print_overlay_hardware(timed);
    const auto found = known.find(text);
    const uint64_t cycles = found != known.end() ? found->second : performance_cycles(timed);
    known[text] = cycles;
    row.targets.cycles = cycles;
    row.targets.gops =
        cycles == 0 ? 0 : double(performance_operations()) / double(cycles) * row.targets.fmax_mhz * 1e-3;
  }
}

}  // namespace tilewright::overlay
