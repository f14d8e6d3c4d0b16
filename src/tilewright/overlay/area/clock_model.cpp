#include "tilewright/overlay/area/clock_model.h"

namespace tilewright::overlay {

double estimated_clock_mhz(const OverlayHardware&, const Device& device) {
  return device.clock_mhz > 0 ? device.clock_mhz : 100;
}

double estimated_clock_error() { return 0.3; }

}  // namespace tilewright::overlay
