// acc = 256 * sum high * w + sum low * w + 128 * sum w: a pass over each plane with the same weights, and a
// constant that goes to the bias, padding included, since its low byte is as 128 smaller as all others.
// Results are computed twice, once per plane; output_passes.cpp takes the byte that each keeps.
#include "tilewright/overlay/schedule/layer_planes.h"

#include <cstring>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

// The weights of one output channel, added up.
int64_t weight_sum(const OverlayLayer& layer, int64_t channel) {
  const TapGrid& grid = layer.phases[0].grids[0];
  if (layer.pattern == ChannelPattern::kSharedDiagonal) return int64_t{layer.diagonal[0]} * grid.ny * grid.nx;
  const int64_t size = layer.weights.size() / layer.weights.shape()[0];
  int64_t sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += layer.weights.integer_at(channel * size + i);
  return sum;
}

// Entries by channel, those of `between` up to a whole plane, and all of them once more.
template <typename T>
void repeat(std::vector<T>& values, int64_t plane, T between) {
  values.resize(size_t(plane), between);
  const std::vector<T> first = values;
  values.insert(values.end(), first.begin(), first.end());
}

}  // namespace

void read_in_planes(OverlayLayer& layer) {
  constexpr int64_t kOffset = 128;
  LayerSource high = layer.sources[0];
  high.planes = 2;
  LayerSource low = high;
  low.plane = 1;
  layer.sources = {high, low};
  layer.input_magnitude = 1 << 15;
  layer.pass_shift = 8;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    int32_t& bias = layer.output.bias[size_t(o)];
    bias = wrap(bias + kOffset * weight_sum(layer, o), 32);
  }
  std::vector<TapGrid>& grids = layer.phases[0].grids;
  for (size_t i = 0, count = grids.size(); i < count; ++i) {
    TapGrid grid = grids[i];
    grid.source = grid.pass = 1;
    grids.push_back(grid);
  }
}

void write_in_planes(OverlayLayer& layer, int64_t block) {
  const int64_t plane = round_up(layer.out_channels, block);
  layer.result_channels = layer.out_channels;
  layer.out_channels = 2 * plane;
  layer.out_plane = plane;
  LayerFinish& output = layer.output;
  repeat(output.bias, plane, 0);
  if (output.scale.size() > 1) repeat(output.scale, plane, Requantization{output.scale[0]});
  if (layer.pattern == ChannelPattern::kSharedDiagonal) return;
  repeat(layer.weight_magnitude, plane, int64_t{0});
  const Shape& from = layer.weights.shape();
  Tensor weights(layer.weights.type(), Shape{2 * plane, from[1], from[2]});
  const size_t bytes = layer.weights.size_bytes(), second = weights.size_bytes() / 2;
  std::memcpy(weights.mutable_bytes().data(), layer.weights.bytes().data(), bytes);
  std::memcpy(weights.mutable_bytes().data() + second, layer.weights.bytes().data(), bytes);
  layer.weights = std::move(weights);
}

}  // namespace tilewright::overlay
