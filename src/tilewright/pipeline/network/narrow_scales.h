// Multipliers of fewer bits that give the same elements: finishes of hardware multiply by them.
#pragma once

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Every scale becomes the multiplier with the fewest bits that rounds once and gives the same element for
// every sum that the layer's weights allow. What has none, or is of wide fixed point, stays as it is.
void narrow_scales(Network& network);
// Of one layer, which need not be the network's own.
void narrow_scales(const Network& network, Layer& layer);

}  // namespace tilewright::pipeline
