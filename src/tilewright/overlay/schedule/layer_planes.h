// Layers of 16-bit activations, which lie in memory as planes of 8 bits: x = 256 * high + low + 128, high and
// low both i8.
#pragma once

#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// The layer, whose one source has 16 bits, as one of two planes: sums of the high bytes, then, shifted by 8,
// of the low ones. One phase; a bias per output channel.
void read_in_planes(OverlayLayer& layer);

// The layer, whose result has 16 bits, with twice the output channels: a plane of high bytes, a plane of low
// ones, both whole blocks of `block` channels.
void write_in_planes(OverlayLayer& layer, int64_t block);

}  // namespace tilewright::overlay
