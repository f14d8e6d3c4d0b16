#include "tilewright/overlay/schedule/tap_grids.h"

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

}  // namespace tilewright::overlay
