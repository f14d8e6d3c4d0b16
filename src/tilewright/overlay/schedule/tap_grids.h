// Windows over images as the taps of a layer.
#pragma once

#include "tilewright/graph/window.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// Height and width of a window over one or two spatial axes.
struct PlaneAxes {
  WindowAxis y, x;
};

// Digits of a multiplier of an addition; three of eight bits.
int digit_count(int bits);

// One grid per weight plane.
void add_planes(const OverlayLayer& layer, Phase& phase, TapGrid grid);

// The taps of a window; `own_weights`: each has a weight position of its own.
TapGrid window_grid(const PlaneAxes& axes, bool own_weights);
void set_window(OverlayLayer& layer, const PlaneAxes& axes);
// The pattern of `group` groups of `inputs` channels in all; the layer knows its output channels.
void set_groups(OverlayLayer& layer, int64_t group, int64_t inputs);

// A tap of the shared diagonal: source * weight, in this pass over the digits of a multiplier.
void add_tap(OverlayLayer& layer, int source, int64_t weight, int pass);
// Passes count from the highest digit that is not zero. The lowest one is there even where all of its digits
// are zero, since it shifts the others into place.
void number_passes(OverlayLayer& layer, int digits);

// The taps of one axis that reach output residue r, ordered by input offset. Kernel positions are counted
// from the far end, so that offsets and weights both ascend.
struct AxisTaps {
  int count = 0, offset = 0, step = 1, weight = 0, weight_step = 0;
};
AxisTaps taps_of(const WindowAxis& axis, int64_t residue);

}  // namespace tilewright::overlay
