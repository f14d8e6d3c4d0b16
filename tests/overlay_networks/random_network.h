// Random integer networks with branches, additions, pools, views and several outputs.
#pragma once

#include <cstdint>

#include "tilewright/graph/graph.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay_networks {

Graph random_network(uint64_t seed, const OverlayHardware& hardware);

}  // namespace tilewright::overlay_networks
