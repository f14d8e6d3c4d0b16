// Products, levels of the tree and accumulator of an array; bias, multiplier, clip, residual and table of a
// finish (rtl/pipeline/tw_stream_mac_array.sv, tw_stream_lane_array.sv, tw_stream_finish.sv).
#include "tilewright/pipeline/design/component_latency.h"

#include <bit>

#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {
namespace {

int64_t levels(int64_t terms) { return terms <= 1 ? 0 : std::bit_width(uint64_t(terms - 1)); }

}  // namespace

int64_t array_latency(const Network& network, const Allocation& allocation, size_t index,
                      const LayerGeometry& g) {
  const Layer& layer = network.layers[index];
  const NetworkTensor& input = network.tensors[size_t(layer.input)];
  const int64_t taps = g.row_major ? g.window.rows * g.window.columns : 1;
  const Multiplier multiplier = g.lanes ? lane_multiplier(layer, g.shape) : g.shape.multiplier;
  const bool lut = multiplier == Multiplier::kLut, streaming = allocation.streaming;
  if (g.lanes && layer.kind == LayerKind::kMaxPool && streaming) return taps == 1 ? 2 : levels(taps) + 1;
  const int64_t terms = g.lanes ? taps : taps * g.shape.pi;
  const bool a_bipolar = input.bipolar && streaming,
             w_bipolar = layer.weight_bipolar && streaming && !g.lanes;
  if (a_bipolar && w_bipolar) return levels((terms + 2) / 3) + 2;
  if (w_bipolar && lut) return levels(terms) + 2;
  // Packed products are corrected behind the tree, in the step in which pairs are ahead of it.
  const int64_t products =
      products_per_block(multiplier) > 1
          ? 2
          : multiplier_steps(a_bipolar ? 2 : input.bits, w_bipolar ? 2 : layer.weight_bits, lut);
  return (lut ? 0 : 1) + products + levels(terms) + 1;
}

int64_t finish_latency(const Network& network, const Allocation& allocation, size_t index) {
  bool adds = false, looks_up = false, multiplies = false, products = false;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const bool same =
        allocation.streaming ? i == index : allocation.layers[i].engine == allocation.layers[index].engine;
    if (!same) continue;
    adds |= layer.add.has_value();
    products |= layer.add && layer.add->product;
    looks_up |= layer.lookup.has_value();
    multiplies |= multiplier_bits(layer) > 0;
  }
  if (network.number == NumberType::kFixed) return 2 + (adds ? 2 : 0) + (looks_up ? 8 : 0);
  const int64_t product = allocation.finish_multiplier == Multiplier::kLut ? 1 : 2;
  return 4 + (multiplies ? product : 0) + (adds ? 5 : 0) + (products ? product : 0) + (looks_up ? 1 : 0);
}

}  // namespace tilewright::pipeline
