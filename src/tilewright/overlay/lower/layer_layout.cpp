// From byte 4096 on: sources, result, weights, parameters, table, padding, each aligned to the largest
// element or instruction and to at least 64 bytes. Padding comes last because its size depends on the tiling.
#include "tilewright/overlay/lower/layer_layout.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {

LayerLayout::LayerLayout(const Tiling& tiling, const OverlayHardware& hardware)
    : alignment_(
          uint64_t(std::max({hardware.input_bytes(), hardware.weight_bytes(), hardware.accumulator_bytes(),
                             hardware.output_bytes(), hardware.instruction_bytes(), int64_t{64}}))) {
  const OverlayLayer& layer = *tiling.layer;
  for (const LayerSource& source : layer.sources) {
    addresses_.sources.push_back(
        take_elements(packed_activation_bytes(view_of(layer, source), hardware), hardware.input_bytes()));
  }
  addresses_.result =
      take_elements(packed_activation_bytes(result_view(layer), hardware), hardware.output_bytes());
  addresses_.weights =
      layer.computed
          ? take_elements(packed_activation_bytes(view_of(layer, layer.computed->source), hardware),
                          hardware.input_bytes())
          : take_elements(packed_weight_bytes(layer, hardware), hardware.weight_bytes());
  const int64_t accumulator = hardware.accumulator_bytes();
  addresses_.parameters =
      take_elements(tiling.blocks.sub_total * tiling.parameter_vectors * accumulator, accumulator);
  addresses_.table = take_elements(packed_table_bytes(layer), table_entry_bytes(layer));
  addresses_.padding =
      take_elements(padding_elements(tiling) * hardware.input_bytes(), hardware.input_bytes());
}

uint64_t LayerLayout::take(uint64_t bytes) {
  const uint64_t address = round_up(end_, alignment_);
  end_ = address + bytes;
  return address;
}

int64_t LayerLayout::take_elements(int64_t bytes, int64_t element_bytes) {
  return int64_t(take(uint64_t(bytes))) / element_bytes;
}

}  // namespace tilewright::overlay
