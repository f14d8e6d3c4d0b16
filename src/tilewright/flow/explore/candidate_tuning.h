// The inner loop of exploration: every distinct layer of a network tuned on one overlay, on the cycle
// simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/schedule.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

struct CandidateLayer {
  std::string name;  // of its first node
  int64_t count = 1;
  int64_t cycles = 0, bound_cycles = 0, trials = 0;
  overlay::Schedule schedule;
};

struct TunedCandidate {
  int64_t cycles = 0, trials = 0;  // of the network: layers run one after the other
  std::vector<CandidateLayer> layers;
};

// `trials` schedules per layer, the compiler's default first, then those that look best by the closed form of
// schedules and are measured; 0: the default alone. The tuning of a layer ends early when it is within 1 % of
// its bound. Throws Expired when the time of `deadline`, if any, is over. Errors (infeasible): a layer of
// which no tile fits.
TunedCandidate tune_candidate(const ExplorationNetwork& network, const OverlayHardware& hardware,
                              const MemoryModel& memory, int64_t trials, uint64_t seed,
                              const Deadline* deadline = nullptr);

// As JSON: cycles, trials, and per layer name, count, cycles, bound_cycles, trials, schedule. Errors
// (invalid input): another form.
std::string print_tuned(const TunedCandidate& tuned);
TunedCandidate parse_tuned(const std::string& json, const std::string& source_name);

}  // namespace tilewright
