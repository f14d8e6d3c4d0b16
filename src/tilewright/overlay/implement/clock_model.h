// The clock at which an overlay is expected to run on parts without an open placer: an estimate, to be marked
// as one. It is the usual clock of designs for the device (`clock_mhz` of its file).
#pragma once

#include "tilewright/hardware/device.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

double estimated_clock_mhz(const OverlayHardware& hardware, const Device& device);
// Half the width of the band in which real clocks are expected, relative to the estimate.
double estimated_clock_error();

}  // namespace tilewright::overlay
