// The plots of a network's report.
#pragma once

#include <string>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// Stacked bars by place and by data type: of one dataflow a bar per layer (energy), of several a bar per
// dataflow (energy per MAC, over all layers; dataflows that cannot run every layer are marked).
std::string report_svg(const NetworkReport& report);

}  // namespace tilewright
