// A network's row-stationary mappings on the simulated chip: how long its layers take there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/spatial/chip/array_simulator.h"
#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

struct ChipLayerTime {
  std::optional<ArrayTime> time;
  std::string reason;  // where there is none
};

struct ChipTimes {
  RowStationaryChip chip;
  std::vector<ChipLayerTime> shapes;  // of the network
};

// `run`: of a dataflow with the variables m, n, f, p, q, r and t, as dataflows/rs-chip.yaml states them.
// Layers that the run has no mapping for, that break rules of the chip or that the deadline leaves no time
// for, have a reason instead of a time. Errors (invalid input): a dataflow with other variables.
ChipTimes simulate_on_chip(const NetworkReport& report, const DataflowRun& run, const RowStationaryChip& chip,
                           const Deadline& deadline);

// A line per layer and their sum.
std::string chip_times_text(const ChipTimes& times, const NetworkReport& report, const DataflowRun& run);
std::string chip_times_json(const ChipTimes& times, const NetworkReport& report);

}  // namespace tilewright
