// Random integer networks with branches, additions, pools, views and several outputs. For a narrow overlay
// the first nodes, named "narrow...", are the host's: they make the inputs as narrow as the overlay is.
#pragma once

#include <cstdint>

#include "tilewright/graph/graph.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay_networks {

Graph random_network(uint64_t seed, const OverlayHardware& hardware);

}  // namespace tilewright::overlay_networks
