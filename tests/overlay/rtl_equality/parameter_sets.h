// The overlays whose RTL is compared with the simulators: small ones, which together meet every width,
// several batches, blocks that differ, ports from 32 to 512 bits, sliced ALUs, small queues and both
// instruction sets.
#pragma once

#include <vector>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

// The first two are those of the fast tests: one wide, one plain.
std::vector<OverlayHardware> parameter_sets();

}  // namespace tilewright::overlay
