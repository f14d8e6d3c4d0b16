// A tuned candidate of an exploration compared with its best possible performance.
#pragma once

#include <string>
#include <vector>

#include "tilewright/flow/explore/candidate_tuning.h"

namespace tilewright {

// One layer before and after something was changed about it. Bytes are those of the busier direction.
struct OperatingPoint {
  std::string name;
  int64_t macs = 0, cycles = 0, before_cycles = 0;
  double bytes = 0, before_bytes = 0;
};

// Each distinct layer of a network with the compiler's default schedule (before) and tuned, run alone.
struct CandidateRoofline {
  std::string hardware;  // its name
  double macs_per_cycle = 1, bytes_per_cycle = 1, clock_mhz = 100;
  std::vector<OperatingPoint> layers;  // empty: no candidate runs the network
};

// `tuned` is of this network on this hardware.
CandidateRoofline candidate_roofline(const ExplorationNetwork& network, const OverlayHardware& hardware,
                                     const MemoryModel& memory, const TunedCandidate& tuned);

}  // namespace tilewright
