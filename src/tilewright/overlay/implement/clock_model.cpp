// The estimate is the device's `clock_mhz`, or 100 MHz without one, plus or minus 30%; it does not depend on
// the overlay.
#include "tilewright/overlay/implement/clock_model.h"

namespace tilewright::overlay {

double estimated_clock_mhz(const OverlayHardware&, const Device& device) {
  return device.clock_mhz > 0 ? device.clock_mhz : 100;
}

double estimated_clock_error() { return 0.3; }

}  // namespace tilewright::overlay
