// From windows, strides and groups to the taps of a phase.
#include "tilewright/overlay/schedule/tap_grids.h"

#include <algorithm>
#include <cstdlib>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::overlay {

void add_planes(const OverlayLayer& layer, Phase& phase, TapGrid grid) {
  for (int plane = 0; plane < layer.weight_planes; ++plane) {
    phase.grids.push_back(grid);
    grid.weight += layer.weight_positions;
  }
}

TapGrid window_grid(const PlaneAxes& axes, bool own_weights) {
  TapGrid grid;
  grid.ny = int(axes.y.kernel);
  grid.nx = int(axes.x.kernel);
  grid.dy = -int(axes.y.pad_begin);
  grid.dx = -int(axes.x.pad_begin);
  grid.dy_step = int(axes.y.dilation);
  grid.dx_step = int(axes.x.dilation);
  grid.weight_step_y = own_weights ? grid.nx : 0;
  grid.weight_step_x = own_weights ? 1 : 0;
  return grid;
}

void set_window(OverlayLayer& layer, const PlaneAxes& axes) {
  layer.in_step_y = int(axes.y.stride);
  layer.in_step_x = int(axes.x.stride);
  layer.out_height = axes.y.output;
  layer.out_width = axes.x.output;
}

void set_groups(OverlayLayer& layer, int64_t group, int64_t inputs) {
  if (group == 1) {
    layer.pattern = ChannelPattern::kDense;
  } else if (group == inputs && group == layer.out_channels) {
    layer.pattern = ChannelPattern::kDiagonal;
  } else {
    layer.pattern = ChannelPattern::kGrouped;
    layer.group_inputs = inputs / group;
    layer.group_outputs = layer.out_channels / group;
  }
}

AxisTaps taps_of(const WindowAxis& axis, int64_t residue) {
  AxisTaps taps;
  for (int64_t flipped = 0; flipped < axis.kernel; ++flipped) {
    const int64_t k = axis.kernel - 1 - flipped;
    const int64_t reach = residue + axis.pad_begin - k * axis.dilation;
    if (((reach % axis.stride) + axis.stride) % axis.stride != 0) continue;
    const int offset = int(reach / axis.stride);
    if (taps.count == 0) {
      taps.offset = offset;
      taps.weight = int(flipped);
    } else if (taps.count == 1) {
      taps.step = offset - taps.offset;
      taps.weight_step = int(flipped) - taps.weight;
    }
    ++taps.count;
  }
  return taps;
}

namespace {

// Digits of a multiplier of an addition; three of eight bits.
int digit_count(int bits) { return 24 / bits; }

// Source * weight, in this pass over the digits of a multiplier.
void add_tap(OverlayLayer& layer, int source, int64_t weight, int pass) {
  layer.phases[0].grids.push_back({.source = source, .pass = pass, .weight = int(layer.diagonal.size())});
  layer.diagonal.push_back(int8_t(weight));
}

bool add_scaled_source(OverlayLayer& layer, int source, int64_t multiplier, bool digits) {
  const int bits = layer.weight_bits;
  if (!digits) {
    while (multiplier != 0) {
      const int64_t part = clip(multiplier, lowest_weight(bits), highest_weight(bits));
      add_tap(layer, source, part, 0);
      multiplier -= part;
    }
    return true;
  }
  for (int pass = digit_count(bits) - 1; pass >= 0; --pass) {
    const int64_t digit = wrap(multiplier, bits);
    if (digit != 0) add_tap(layer, source, digit, pass);
    multiplier = (multiplier - digit) / (int64_t{1} << bits);
  }
  return multiplier == 0;
}

// Passes count from the highest digit that is not zero. The lowest one is there even where all of its digits
// are zero, since it shifts the others into place.
void number_passes(OverlayLayer& layer, int digits) {
  std::vector<TapGrid>& grids = layer.phases[0].grids;
  const auto ascending = [](const TapGrid& l, const TapGrid& r) { return l.pass < r.pass; };
  std::stable_sort(grids.begin(), grids.end(), ascending);
  if (digits > 1 && grids.back().pass < digits - 1) add_tap(layer, 0, 0, digits - 1);
  const int first = grids.empty() ? 0 : grids.front().pass;
  for (TapGrid& grid : grids) grid.pass -= first;
}

}  // namespace

bool add_sum(OverlayLayer& layer, int64_t multiplier_a, int64_t multiplier_b) {
  layer.phases.resize(1);
  layer.pass_shift = layer.weight_bits;
  const int64_t largest = std::max(std::abs(multiplier_a), std::abs(multiplier_b));
  const bool digits = largest > 2 * highest_weight(layer.weight_bits);
  if (!add_scaled_source(layer, 0, multiplier_a, digits) ||
      !add_scaled_source(layer, 1, multiplier_b, digits))
    return false;
  number_passes(layer, digits ? digit_count(layer.weight_bits) : 1);
  return true;
}

int passes_of(const OverlayLayer& layer) {
  const std::vector<TapGrid>& grids = layer.phases[0].grids;
  return grids.empty() ? 0 : grids.back().pass + 1;
}

}  // namespace tilewright::overlay
