// What a layer's numbers imply: weights by index, accumulator bounds, and the folding of image positions into
// channels.
#include "tilewright/overlay/schedule/layer.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

int64_t raw_weight(const OverlayLayer& layer, int64_t row, int64_t column, int position) {
  const int64_t columns = layer.weights.shape()[1];
  const size_t at = size_t((row * columns + column) * layer.weight_positions + position);
  return layer.weights.type() == ElementType::kI8 ? int64_t(layer.weights.data<int8_t>()[at])
                                                  : int64_t(layer.weights.data<int16_t>()[at]);
}

// Part `plane` of a weight that is a sum of numbers of `bits` bits, larger parts first.
int8_t plane_of(int64_t value, int plane, int bits) {
  const int64_t low = lowest_weight(bits), high = highest_weight(bits);
  for (int k = 0; k < plane; ++k) value -= clip(value, low, high);
  return int8_t(clip(value, low, high));
}

}  // namespace

int64_t lowest_weight(int bits) { return bits == 1 ? -1 : -(int64_t{1} << (bits - 1)); }
int64_t highest_weight(int bits) { return bits == 1 ? 1 : (int64_t{1} << (bits - 1)) - 1; }

int32_t padding_lane(const OverlayLayer& layer, size_t source) {
  const LayerSource& from = layer.sources[source];
  if (from.planes == 2) return from.plane == 0 ? layer.pad_value >> 8 : (layer.pad_value & 0xFF) - 128;
  return from.bipolar ? int32_t(layer.pad_value > 0) : layer.pad_value;
}

int32_t unused_lane_sum(const OverlayLayer& layer) {
  if (layer.weight_bits != 1 || !layer.sources[0].bipolar || layer.sources[0].channels % 2 == 0) return 0;
  int32_t taps = 0;
  for (const TapGrid& grid : layer.phases[0].grids) taps += grid.ny * grid.nx;
  return -taps;
}

int8_t OverlayLayer::weight(int64_t o, int64_t i, int index) const {
  if (pattern == ChannelPattern::kSharedDiagonal) {
    return (index == spread ? 0 : o) == i ? diagonal[size_t(index)] : int8_t(0);
  }
  int64_t column = i;
  if (pattern == ChannelPattern::kDiagonal) {
    if ((out_plane > 0 ? o % out_plane : o) != i) return 0;
    column = 0;
  } else if (pattern == ChannelPattern::kGrouped) {
    column = i - o / group_outputs * group_inputs;
    if (column < 0 || column >= group_inputs) return 0;
  }
  return plane_of(raw_weight(*this, o, column, index % weight_positions), index / weight_positions,
                  weight_bits);
}

int64_t accumulator_bound(const OverlayLayer& layer, int64_t channel) {
  int64_t sum = 0;
  if (layer.pattern == ChannelPattern::kSharedDiagonal) {
    // Horner's rule over the passes bounds every intermediate value as well.
    const size_t passes =
        size_t(1 + (layer.phases[0].grids.empty()
                        ? 0
                        : std::max_element(layer.phases[0].grids.begin(), layer.phases[0].grids.end(),
                                           [](const TapGrid& a, const TapGrid& b) { return a.pass < b.pass; })
                              ->pass));
    for (size_t pass = 0; pass < passes; ++pass) {
      if (pass != 0) sum <<= layer.pass_shift;
      for (const TapGrid& grid : layer.phases[0].grids) {
        if (size_t(grid.pass) != pass) continue;
        sum += std::abs(int64_t(layer.diagonal[size_t(grid.weight)])) * layer.input_magnitude * grid.ny *
               grid.nx;
      }
    }
  } else {
    sum = layer.weight_magnitude[size_t(channel)] * layer.input_magnitude;
  }
  return sum + std::abs(int64_t(layer.output.bias[size_t(channel)]));
}

std::optional<OverlayLayer> fold_input(const OverlayLayer& layer, int fold_y, int fold_x) {
  if (layer.kind != OverlayLayerKind::kMatrix || layer.pattern != ChannelPattern::kDense || layer.fold ||
      layer.sources.size() != 1 || layer.phases.size() != 1 || layer.out_step_y != 1 ||
      layer.out_step_x != 1) {
    return std::nullopt;
  }
  const TapGrid first = layer.phases[0].grids[0];
  if (fold_y > first.ny || fold_x > first.nx || fold_y * fold_x < 2) return std::nullopt;
  // Where the fold reaches beyond the kernel, weights are zero, which single bits cannot be.
  if (layer.weight_bits == 1 && (first.ny % fold_y != 0 || first.nx % fold_x != 0)) return std::nullopt;
  const LayerSource source = layer.sources[0];
  const int ny = ceil_div(first.ny, fold_y), nx = ceil_div(first.nx, fold_x);

  OverlayLayer folded = layer;
  InputFold fold;
  fold.fold_y = fold_y;
  fold.fold_x = fold_x;
  fold.step_y = first.dy_step;
  fold.step_x = first.dx_step;
  fold.origin_y = first.dy;
  fold.origin_x = first.dx;
  fold.channels = source.channels;
  fold.height = source.height;
  fold.width = source.width;
  fold.pad_value = layer.pad_value;
  // Rows and columns that no tap reads are not stored.
  const int tap_y = fold_y * first.dy_step, tap_x = fold_x * first.dx_step;
  fold.sample_y = ny > 1 ? std::gcd(layer.in_step_y, tap_y) : layer.in_step_y;
  fold.sample_x = nx > 1 ? std::gcd(layer.in_step_x, tap_x) : layer.in_step_x;
  folded.fold = fold;
  folded.pad_value = 0;
  folded.in_step_y = layer.in_step_y / fold.sample_y;
  folded.in_step_x = layer.in_step_x / fold.sample_x;
  const int dy_step = ny > 1 ? tap_y / fold.sample_y : 1, dx_step = nx > 1 ? tap_x / fold.sample_x : 1;
  LayerSource& image = folded.sources[0];
  image.channels = source.channels * fold_y * fold_x;
  image.height = (layer.out_height - 1) * folded.in_step_y + int64_t(ny - 1) * dy_step + 1;
  image.width = (layer.out_width - 1) * folded.in_step_x + int64_t(nx - 1) * dx_step + 1;

  // The weights in the same order, zero where the fold reaches beyond the kernel.
  const int64_t outputs = layer.out_channels, inputs = source.channels, depth = image.channels;
  Tensor weights(layer.weights.type(), Shape{outputs, depth, int64_t(ny) * nx});
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t c = 0; c < inputs; ++c) {
      for (int ky = 0; ky < first.ny; ++ky) {
        for (int kx = 0; kx < first.nx; ++kx) {
          const int64_t lane = (c * fold_y + ky % fold_y) * fold_x + kx % fold_x;
          const int64_t position = int64_t(ky / fold_y) * nx + kx / fold_x;
          weights.set_integer((o * depth + lane) * ny * nx + position,
                              raw_weight(layer, o, c, ky * first.nx + kx));
        }
      }
    }
  }
  folded.weights = std::move(weights);
  folded.weight_positions = ny * nx;
  for (size_t plane = 0; plane < folded.phases[0].grids.size(); ++plane) {
    TapGrid& grid = folded.phases[0].grids[plane];
    grid = {.source = 0, .ny = ny, .nx = nx, .dy = 0, .dx = 0};
    grid.dy_step = dy_step;
    grid.dx_step = dx_step;
    grid.weight = int(plane) * ny * nx;
    grid.weight_step_y = nx;
    grid.weight_step_x = 1;
  }
  return folded;
}

}  // namespace tilewright::overlay
