// The clock that an overlay is expected to run at on parts without an open placer: an estimate, to be marked
// as one. The base is what designs for the device usually run at (`clock_mhz` of its file).
#pragma once

#include "tilewright/hardware/device.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

double estimated_clock_mhz(const OverlayHardware& hardware, const Device& device);
// Half the width of the band that real clocks are expected in, relative to the estimate.
double estimated_clock_error();

}  // namespace tilewright::overlay
