// The report of a generated design as a page: its use of the device, what each engine works on and when, its
// roofline, and a table of its layers.
#pragma once

#include <string>

#include "tilewright/flow/design/design_report.h"

namespace tilewright {

// One HTML file (well-formed XML) with the plots inside, readable on light and dark ground, without scripts.
std::string design_page(const DesignReport& report);

}  // namespace tilewright
