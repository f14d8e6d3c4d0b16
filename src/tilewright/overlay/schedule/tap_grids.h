// Windows over images as the taps of a layer.
#pragma once

#include "tilewright/graph/window.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// Height and width of a window over one or two spatial axes.
struct PlaneAxes {
  WindowAxis y, x;
};

// One grid per weight plane.
void add_planes(const OverlayLayer& layer, Phase& phase, TapGrid grid);

// The taps of a window; `own_weights`: each has a weight position of its own.
TapGrid window_grid(const PlaneAxes& axes, bool own_weights);
void set_window(OverlayLayer& layer, const PlaneAxes& axes);
// The pattern of `group` groups of `inputs` channels in all; the layer knows its output channels.
void set_groups(OverlayLayer& layer, int64_t group, int64_t inputs);

// The taps of the sum of two sources, each times a multiplier: a sum of weights of the shared diagonal where
// that is short, digits of as many bits in one pass each otherwise. False: a multiplier is not below 2^23.
bool add_sum(OverlayLayer& layer, int64_t multiplier_a, int64_t multiplier_b);
int passes_of(const OverlayLayer& layer);

// The taps of one axis that reach output residue r, ordered by input offset. Kernel positions are counted
// from the far end, so that offsets and weights both ascend.
struct AxisTaps {
  int count = 0, offset = 0, step = 1, weight = 0, weight_step = 0;
};
AxisTaps taps_of(const WindowAxis& axis, int64_t residue);

}  // namespace tilewright::overlay
