// Why a bundle takes as long as it does, layer by layer, and what would make it faster: every change that is
// reported has been made and run on the cycle simulator.
//
// What bounds a layer is read off its critical path (overlay/program/layer_timing.h). The changes come in two
// kinds. Those of the hardware are tried on the whole network at once, with schedules chosen anew: one
// buffer, queue or port of twice the size, the wide instruction set. Those of schedules are tried on all
// layers at once, each layer taking its own neighbour of that kind: another number of threads, another loop
// order, tiles of half or twice the size, something kept in a scratchpad.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/flow/time/network_timing.h"

namespace tilewright {

// One change, as it was measured. `cycles` by layer of Explanation::base; kNotTried where it does not apply.
struct Trial {
  static constexpr uint64_t kNotTried = ~uint64_t{0};

  std::string change;  // "memory port of 128 bits"
  bool of_hardware = false;
  std::string refused;  // why it could not be tried at all; then no cycles
  std::vector<uint64_t> cycles;
  std::vector<std::string> details;  // by layer: what it meant there, e.g. "rows 14 -> 7"; may be empty
};

struct ExplainOptions {
  bool try_hardware = true, try_schedules = true;
  int threads = 1;
};

struct Explanation {
  NetworkTiming base;
  std::vector<Trial> trials;

  // Cycles that `trial` saves on layer `layer`; negative when it costs, 0 when it was not tried there.
  int64_t saved(const Trial& trial, size_t layer) const;
  // What a hardware change saves over all layers that it was tried on.
  int64_t saved(const Trial& trial) const;
  // The best trials of a layer that save at least `least_share` of its cycles, best first, at most `count`.
  std::vector<const Trial*> best(size_t layer, size_t count, double least_share = 0.005) const;
  // The sum over layers of what the best schedule change of each saves.
  int64_t saved_by_schedules() const;
};

// Errors: those of time_network for the bundle as it is. A trial that fails says why instead.
Explanation explain(const Bundle& bundle, const MemoryModel& memory, const ExplainOptions& options = {});

// One line per layer with the causes of its cycles and the best changes, then the hardware changes.
std::string to_string(const Explanation& explanation);
std::string to_json(const Explanation& explanation);  // ends with a newline

}  // namespace tilewright
