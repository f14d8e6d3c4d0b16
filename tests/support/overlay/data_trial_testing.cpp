// Inputs, weights and parameters lie where they are for all tilings and are never written by a program, so
// they are packed once.
#include "support/overlay/data_trial_testing.h"

#include <algorithm>

#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {
namespace {

OverlayHardware named(OverlayHardware hardware) {
  if (hardware.name.empty()) hardware.name = "overlay";  // the simulator wants one
  return hardware;
}

}  // namespace

DataTrial::DataTrial(const OverlayLayer& layer, const OverlayHardware& hardware, const MemoryModel& memory,
                     std::vector<Tensor> inputs)
    : layer_(layer), hardware_(named(hardware)), inputs_(std::move(inputs)), simulator_(hardware_, memory) {
  TILEWRIGHT_CHECK(inputs_.size() == layer.sources.size() + layer.computed.has_value(),
                   "a trial needs one input per source");
}

std::span<std::byte> DataTrial::part(uint64_t address, int64_t bytes) {
  return std::span(memory_).subspan(address, size_t(bytes));
}

SourceView DataTrial::result_view() const { return overlay::result_view(layer_); }

void DataTrial::pack(const Tiling& tiling, const LayerLayout& layout) {
  const LayerAddresses& at = layout.addresses();
  for (size_t i = 0; i < layer_.sources.size(); ++i) {
    const LayerSource& source = layer_.sources[i];
    const SourceView view = view_of(layer_, source);
    pack_activation(
        inputs_[i], view, source.bipolar, hardware_,
        part(uint64_t(at.sources[i] * hardware_.input_bytes()), packed_activation_bytes(view, hardware_)));
  }
  if (layer_.computed) {
    const SourceView view = view_of(layer_, layer_.computed->source);
    pack_activation(
        inputs_.back(), view, false, hardware_,
        part(uint64_t(at.weights * hardware_.input_bytes()), packed_activation_bytes(view, hardware_)));
  }
  pack_weights(layer_, hardware_,
               part(uint64_t(at.weights * hardware_.weight_bytes()), packed_weight_bytes(layer_, hardware_)));
  const int64_t accumulator = hardware_.accumulator_bytes();
  pack_parameters(tiling.output, hardware_,
                  part(uint64_t(at.parameters * accumulator),
                       tiling.blocks.sub_total * tiling.parameter_vectors * accumulator));
  const int64_t table = packed_table_bytes(layer_);
  pack_table(layer_, part(uint64_t(at.table * table_entry_bytes(layer_)), table));
  result_ = uint64_t(at.result * hardware_.output_bytes());
  packed_ = true;
}

uint64_t DataTrial::run(const Tiling& tiling) {
  TILEWRIGHT_CHECK(tiling.layer == &layer_, "a tiling of another layer");
  LayerLayout layout(tiling, hardware_);
  const LayerAddresses& at = layout.addresses();
  Runtime runtime(hardware_);
  lower_layer(tiling, at, runtime);
  const uint64_t uops = layout.take(runtime.uop_image_bytes());
  const RuntimeOutput output = runtime.synchronize(uops);
  const uint64_t program = layout.take(output.instructions.size());
  if (memory_.size() < layout.end()) memory_.resize(layout.end());
  if (!packed_) pack(tiling, layout);
  const int64_t padding = padding_elements(tiling) * hardware_.input_bytes();
  pack_padding(layer_, hardware_, part(uint64_t(at.padding * hardware_.input_bytes()), padding));
  const auto result = part(result_, packed_activation_bytes(result_view(), hardware_));
  std::fill(result.begin(), result.end(), std::byte{0x5a});  // what is not stored must not look right
  std::copy(output.uops.begin(), output.uops.end(), memory_.begin() + long(uops));
  std::copy(output.instructions.begin(), output.instructions.end(), memory_.begin() + long(program));
  return simulator_.run(std::span(memory_).first(layout.end()), program, output.statistics.instructions)
      .cycles.cycles;
}

Tensor DataTrial::output() const {
  const SourceView view = result_view();
  const auto bytes = std::span(memory_).subspan(result_, size_t(packed_activation_bytes(view, hardware_)));
  return unpack_activation(bytes, view, layer_.output.bipolar, hardware_);
}

}  // namespace tilewright::overlay
