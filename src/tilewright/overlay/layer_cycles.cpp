// Only instructions and micro-ops are ever touched of the memory, so it costs no more than they do.
#include "tilewright/overlay/layer_cycles.h"

#include <algorithm>
#include <cstring>

#include "tilewright/overlay/cycle_simulator.h"
#include "tilewright/overlay/lowering.h"
#include "tilewright/overlay/packing.h"
#include "tilewright/overlay/zeroed_memory.h"

namespace tilewright::overlay {

uint64_t layer_cycles(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory) {
  const Layer& layer = *tiling.layer;
  const auto alignment =
      uint64_t(std::max({hardware.input_bytes(), hardware.weight_bytes(), hardware.accumulator_bytes(),
                         hardware.output_bytes(), hardware.instruction_bytes(), int64_t{64}}));
  uint64_t cursor = 4096;
  const auto take = [&](int64_t bytes) {
    const uint64_t address = (cursor + alignment - 1) / alignment * alignment;
    cursor = address + uint64_t(bytes);
    return int64_t(address);
  };
  LayerAddresses addresses;
  for (const LayerSource& source : layer.sources) {
    const SourceView view{layer.batch, source.channels, source.height, source.width};
    addresses.sources.push_back(take(packed_activation_bytes(view, hardware)) / hardware.input_bytes());
  }
  const SourceView result{layer.batch, layer.out_channels, layer.out_height, layer.out_width};
  addresses.result = take(packed_activation_bytes(result, hardware)) / hardware.output_bytes();
  addresses.weights = take(packed_weight_bytes(layer, hardware)) / hardware.weight_bytes();
  addresses.parameters =
      take(tiling.blocks.sub_total * tiling.parameter_vectors * hardware.accumulator_bytes()) /
      hardware.accumulator_bytes();
  addresses.padding = take(padding_elements(tiling) * hardware.input_bytes()) / hardware.input_bytes();

  Runtime runtime(hardware);
  lower_layer(tiling, addresses, runtime);
  const int64_t uops = take(int64_t(runtime.uop_image_bytes()));
  const RuntimeOutput output = runtime.synchronize(uint64_t(uops));
  const int64_t program = take(int64_t(output.instructions.size()));
  ZeroedMemory dram(cursor);
  std::memcpy(dram.span().data() + uops, output.uops.data(), output.uops.size());
  std::copy(output.instructions.begin(), output.instructions.end(), dram.span().begin() + program);
  OverlayHardware named = hardware;
  if (named.name.empty()) named.name = "overlay";  // the simulator wants one
  CycleSimulator simulator(named, memory);
  CycleOptions options;
  options.execute = false;
  return simulator.run(dram.span(), uint64_t(program), output.statistics.instructions, options).cycles.cycles;
}

LayerCost predict_layer(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory) {
  constexpr int64_t kMaxTiles = 2000;
  LayerCost cost = estimate_layer(tiling, hardware, memory);
  if (tiling.tile_count() > kMaxTiles) return cost;
  const double estimated = cost.cycles;
  cost.cycles = double(layer_cycles(tiling, hardware, memory));
  cost.share_of_peak *= estimated / cost.cycles;
  return cost;
}

}  // namespace tilewright::overlay
