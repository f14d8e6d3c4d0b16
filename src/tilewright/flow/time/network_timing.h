// A bundle's time on its overlay, layer by layer, against what the overlay could do at best.
//
// Two bounds, both from below: the *ideal* has the GEMM core do useful multiply-accumulates in every cycle;
// the *roofline* (Williams, Waterman, Patterson 2009) also has the data that the program really moves cross
// the memory port at its full rate. Reads and writes have a channel each unless the memory is a DDR with one
// bus, so the busier of the two counts. Instructions, micro-ops and parameters do not: they may come while
// the layer before still stores. What the host does is estimated, not timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/run/host_work.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/program/layer_timing.h"
#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright {

// What one overlay and one memory could do.
struct MachineLimits {
  double macs_per_cycle = 1, bytes_per_cycle = 1;
  bool shared_bus = false;  // reads and writes share bytes_per_cycle

  double ideal_cycles(int64_t macs) const { return double(macs) / macs_per_cycle; }
  // Bytes of inputs, weights and outputs on the busier channel.
  double bound_bytes(const overlay::LayerTraffic& traffic) const;
  double memory_cycles(const overlay::LayerTraffic& traffic) const {
    return bound_bytes(traffic) / bytes_per_cycle;
  }
  double roofline_cycles(int64_t macs, const overlay::LayerTraffic& traffic) const;
};
MachineLimits machine_limits(const OverlayHardware& hardware, const MemoryModel& memory);

struct NetworkTiming {
  std::string network;
  OverlayHardware hardware;
  MemoryModel memory;
  MachineLimits limits;
  std::vector<overlay::LayerTiming> layers;  // of all programs, in the order they run
  std::vector<overlay::TimedRun> programs;   // one per overlay step
  HostWork host;                             // beside it, estimated

  uint64_t cycles() const;
  int64_t macs() const;
  overlay::LayerTraffic traffic() const;
  std::array<uint64_t, overlay::kCycleCauses> caused() const;
  double ideal_cycles() const { return limits.ideal_cycles(macs()); }
  double roofline_cycles() const;  // the sum over layers
  // Useful multiply-accumulates among those of the layer's GEMM micro-ops: below 1 where channels, or taps,
  // do not fill the blocks of the array. 0 without micro-ops.
  double array_fill(const overlay::LayerTiming& layer) const;
  double share_of_peak() const { return cycles() == 0 ? 0 : ideal_cycles() / double(cycles()); }
};

// Generates the overlay programs of `bundle` and runs each once on the cycle simulator. Errors: those of
// overlay::compile_overlay; (unsupported) no layer of the bundle runs on the overlay; (invalid input) the
// memory does not verify. Throws Expired when the time of `deadline`, if any, is over.
NetworkTiming time_network(const Bundle& bundle, const MemoryModel& memory,
                           const Deadline* deadline = nullptr);

// One line per layer and the totals.
std::string to_string(const NetworkTiming& timing);
std::string to_json(const NetworkTiming& timing);  // ends with a newline

}  // namespace tilewright
