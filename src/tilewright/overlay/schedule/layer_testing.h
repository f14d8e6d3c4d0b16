// A layer for tests of schedules, without a graph around it.
#pragma once

#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// A dense convolution of square images and kernels, as large at its output; weights are zero.
inline OverlayLayer conv_layer(int64_t channels, int64_t outputs, int64_t size, int kernel) {
  OverlayLayer layer;
  layer.name = "conv";
  layer.out_channels = outputs;
  layer.sources = {{0, channels, size, size}};
  layer.out_height = layer.out_width = size;
  layer.weights = Tensor(ElementType::kI8, Shape{outputs, channels, int64_t(kernel) * kernel});
  layer.weight_positions = kernel * kernel;
  layer.weight_magnitude.assign(size_t(outputs), 0);
  TapGrid grid{.ny = kernel, .nx = kernel, .dy = -(kernel / 2), .dx = -(kernel / 2)};
  grid.weight_step_y = kernel;
  grid.weight_step_x = 1;
  layer.phases.push_back({0, 0, {grid}});
  layer.output.bias.assign(size_t(outputs), 100);
  layer.output.scale = {{1, 8}};
  layer.macs = layer.out_height * layer.out_width * layer.weights.size();
  return layer;
}

}  // namespace tilewright::overlay
