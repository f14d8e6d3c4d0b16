// The roofline plot of a timed network: MACs per cycle against MACs per byte, both axes logarithmic, the two
// roofs of the machine and a mark for every layer.
#pragma once

#include <string>

#include "tilewright/flow/time/network_timing.h"

namespace tilewright {

// An SVG document. Marks carry the numbers of the list beside the plot; layers without MACs (pools, additions
// have some) have no place in it and are listed as such.
std::string roofline_svg(const NetworkTiming& timing);

}  // namespace tilewright
