// ACC: two places for outputs, which layers take in turn, then the parameters of all. WGT: a ring for the
// weights that come and go, then those that stay.
#include "tilewright/overlay/program/kept_data.h"

#include <algorithm>

#include "tilewright/overlay/measure/layer_cycles.h"

namespace tilewright::overlay {
namespace {

// Of a layer alone, without the transfers of what is kept or loaded ahead: WGT elements that the port could
// bring meanwhile.
int64_t idle_elements(const Tiling& tiling, int64_t parameter_bytes, const OverlayHardware& hardware) {
  const int64_t beat = hardware.memory_width_bits / 8, element = hardware.weight_bytes();
  const int64_t loads = (tiling.weight_need() * element + parameter_bytes) / beat;
  const auto cycles = int64_t(layer_cycles(tiling, hardware, {}));
  return std::max<int64_t>(cycles - loads, 0) * beat / element;
}

}  // namespace

KeptData::KeptData(std::vector<TokenLayerData> layers, const OverlayHardware& hardware, bool may_keep)
    : layers_(std::move(layers)), hardware_(hardware), keeps_(may_keep) {
  int64_t parameters = 0, outputs = 0;  // of all layers; of the largest
  for (const TokenLayerData& layer : layers_) {
    const Tiling& tiling = *layer.tiling;
    parameters += parameter_elements(layer);
    outputs = std::max(outputs, tiling.output_slot_size * tiling.output_slots);
    keeps_ = keeps_ && tiling.banks == 1 && tiling.all_parameters == (tiling.parameter_vectors > 0);
  }
  keeps_ = keeps_ && 2 * outputs + parameters <= hardware_.accumulator_depth();
  std::vector<AheadLayer> ahead = ahead_layers();
  const int64_t ring = keep_weights(ahead);
  plan_ = plan_weights_ahead(ahead, ring);
  int64_t weights = ring, place = 2 * outputs;
  for (size_t i = 0; i < layers_.size(); ++i) {
    Tiling& tiling = *layers_[i].tiling;
    tiling.weight_base = kept_[i] ? weights : plan_.bases[i];
    if (kept_[i]) weights += weight_elements(layers_[i]);
    if (!keeps_) continue;
    tiling.accumulator_base = int64_t(i % 2) * outputs;
    tiling.parameter_place = place;
    place += parameter_elements(layers_[i]);
  }
}

std::vector<AheadLayer> KeptData::ahead_layers() {
  std::vector<AheadLayer> ahead;
  for (const TokenLayerData& layer : layers_) {
    const Tiling& tiling = *layer.tiling;
    const bool all_inputs =
        tiling.blocks.shared || (tiling.blocks.dense && tiling.schedule.in_blocks == tiling.blocks.in);
    const bool one_step = all_inputs && tiling.tile_count() == 1 && !tiling.layer->computed &&
                          tiling.weight_need() == weight_elements(layer);
    ahead.push_back(
        {tiling.weight_need(), one_step, idle_elements(tiling, layer.parameter_bytes, hardware_)});
  }
  return ahead;
}

// Returns how much of WGT is left to the ring. What is kept is spread over the layers: while they run,
// others' weights are loaded.
int64_t KeptData::keep_weights(std::vector<AheadLayer>& layers) {
  kept_.assign(layers.size(), false);
  const int64_t depth = hardware_.weight_depth();
  if (!keeps_) return depth;
  int64_t ring = depth / 2, all = 0;
  for (const AheadLayer& layer : layers) {
    all += layer.may_come_early ? layer.weights : 0;
    ring = std::max(ring, layer.weights);
  }
  int64_t left = depth - ring;
  const double share = all == 0 ? 0 : std::min(1.0, double(left) / double(all));
  double owed = 0;
  for (size_t i = layers.size(); i-- > 0;) {
    AheadLayer& layer = layers[i];
    if (!layer.may_come_early) continue;
    owed += share * double(layer.weights);
    if (layer.weights > left || owed < double(layer.weights) / 2) continue;
    owed -= double(layer.weights);
    left -= layer.weights;
    weight_bytes_ += layers_[i].weight_bytes;
    kept_[i] = true;
    layer.may_come_early = false;
    layer.weights = 0;
  }
  return ring + left;
}

void KeptData::describe(size_t layer, LayerAddresses& addresses) const {
  addresses.has_parameters = keeps_;
  addresses.has_weights = plan_.complete[layer] || kept_[layer];
  for (const AheadLoad& load : plan_.loads[layer]) {
    Transfer2D transfer{
        .dram_element = int64_t(layers_[load.layer].weights) / hardware_.weight_bytes() + load.first,
        .x_size = uint32_t(load.count)};
    transfer.x_stride = transfer.x_size;
    addresses.ahead.push_back({uint32_t(plan_.bases[load.layer] + load.first), transfer});
  }
}

RuntimeOutput KeptData::setup(uint64_t uop_address, uint64_t uop_bytes) const {
  Runtime runtime(hardware_);
  const auto fill = [&](MemoryType type, int64_t to, uint64_t address, int64_t bytes, int64_t element) {
    constexpr int64_t kLongestRow = 65535;
    for (int64_t first = 0, count = bytes / element; first < count; first += kLongestRow) {
      Transfer2D transfer{.dram_element = int64_t(address) / element + first,
                          .x_size = uint32_t(std::min(kLongestRow, count - first))};
      transfer.x_stride = transfer.x_size;
      runtime.load_buffer_2d(type, uint32_t(to + first), transfer);
    }
  };
  fill(MemoryType::kUop, 0, uop_address, int64_t(uop_bytes), hardware_.uop_bytes());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const TokenLayerData& layer = layers_[i];
    fill(MemoryType::kAccumulator, layer.tiling->parameter_place, layer.parameters, layer.parameter_bytes,
         hardware_.accumulator_bytes());
    if (kept_[i])
      fill(MemoryType::kWeight, layer.tiling->weight_base, layer.weights, layer.weight_bytes,
           hardware_.weight_bytes());
  }
  return runtime.synchronize(uop_address);
}

std::optional<Schedule> one_step_schedule(const OverlayLayer& layer, const OverlayHardware& hardware) {
  if (layer.computed) return {};
  const ChannelBlocks blocks(layer, hardware);
  const Schedule schedule{.out_blocks = blocks.out, .in_blocks = blocks.in, .virtual_threads = 1};
  Diagnostics problems;
  verify(layer, hardware, schedule, problems);
  if (!problems.ok() || Tiling(layer, hardware, schedule).weight_need() > hardware.weight_depth() / 4)
    return {};
  return schedule;
}

}  // namespace tilewright::overlay
