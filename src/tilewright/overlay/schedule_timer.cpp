#include "tilewright/overlay/schedule_timer.h"

#include <algorithm>
#include <memory>

#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/cycle_engine.h"
#include "tilewright/overlay/lowering.h"
#include "tilewright/overlay/packing.h"

namespace tilewright::overlay {
namespace {

// Hands out memory from the bottom up.
class Layout {
 public:
  explicit Layout(const OverlayHardware& hardware)
      : alignment_(
            uint64_t(std::max({hardware.input_bytes(), hardware.weight_bytes(), hardware.accumulator_bytes(),
                               hardware.output_bytes(), hardware.instruction_bytes(), int64_t{64}}))) {}

  uint64_t take(uint64_t bytes) {
    const uint64_t address = (cursor_ + alignment_ - 1) / alignment_ * alignment_;
    cursor_ = address + bytes;
    return address;
  }

 private:
  const uint64_t alignment_;
  uint64_t cursor_ = 4096;
};

LayerAddresses take_buffers(const Tiling& tiling, const OverlayHardware& hardware, Layout& layout) {
  const Layer& layer = *tiling.layer;
  const auto take = [&](int64_t bytes, int64_t element_bytes) {
    return int64_t(layout.take(uint64_t(bytes))) / element_bytes;
  };
  LayerAddresses addresses;
  for (const LayerSource& source : layer.sources) {
    const SourceView view{layer.batch, source.channels, source.height, source.width};
    addresses.sources.push_back(take(packed_activation_bytes(view, hardware), hardware.input_bytes()));
  }
  const SourceView result{layer.batch, layer.out_channels, layer.out_height, layer.out_width};
  addresses.result = take(packed_activation_bytes(result, hardware), hardware.output_bytes());
  addresses.weights = take(packed_weight_bytes(layer, hardware), hardware.weight_bytes());
  const int64_t parameters = tiling.blocks.sub_total * tiling.parameter_vectors;
  addresses.parameters = take(parameters * hardware.accumulator_bytes(), hardware.accumulator_bytes());
  addresses.padding = take(padding_elements(tiling) * hardware.input_bytes(), hardware.input_bytes());
  return addresses;
}

}  // namespace

ScheduleTimer::ScheduleTimer(const OverlayHardware& hardware, const MemoryModel& memory)
    : hardware_(hardware), memory_(memory), program_(hardware) {
  if (hardware_.name.empty()) hardware_.name = "overlay";  // the rules want one
  Diagnostics diagnostics;
  hardware_.verify(diagnostics);
  memory_.verify(diagnostics);
  diagnostics.raise_if_any();
}

uint64_t ScheduleTimer::cycles(const Tiling& tiling) { return *cycles_below(tiling, kNever - 1); }

std::optional<uint64_t> ScheduleTimer::cycles_below(const Tiling& tiling, uint64_t limit) {
  Layout layout(hardware_);
  const LayerAddresses addresses = take_buffers(tiling, hardware_, layout);
  program_.clear();
  Runtime runtime(hardware_, program_);
  lower_layer(tiling, addresses, runtime);
  runtime.synchronize_times(layout.take(runtime.uop_image_bytes()));
  const uint64_t address = layout.take(program_.count() * uint64_t(hardware_.instruction_bytes()));
  program_.begin();
  const std::unique_ptr<MemoryTiming> memory = make_memory_timing(memory_);
  CycleEngine<TimedProgram> engine(hardware_, address, program_.count(), program_, *memory);
  const uint64_t cycles = engine.run(limit);
  if (cycles == kNever) return std::nullopt;
  return cycles;
}

}  // namespace tilewright::overlay
