// The report of a network as text for a terminal.
#pragma once

#include <string>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

struct NetworkTableOptions {
  bool mappings = false;  // print the mapping of every distinct shape
};

// One dataflow: a row per layer with energy, cycles and proof, then the energy by place and by data type.
// Several: a row per dataflow, and the energy per MAC of every layer under each. Ends with what the numbers
// do not cover.
std::string network_table(const NetworkReport& report, const NetworkTableOptions& options = {});

// Infeasible layers and nodes left out, each with its reason; "" if there are none.
std::string coverage_notes(const NetworkReport& report);

}  // namespace tilewright
