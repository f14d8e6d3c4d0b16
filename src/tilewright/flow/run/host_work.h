// What a bundle leaves to the host in every run, estimated: its nodes there, the values that cross between
// host and overlay, and how often the two take turns.
#pragma once

#include <cstdint>

#include "tilewright/flow/run/bundle.h"

namespace tilewright {

struct HostWork {
  int nodes = 0;
  int64_t macs = 0;
  double node_seconds = 0;
  // Bytes of the values that one side makes and the other reads, inputs and outputs of the model included;
  // each is packed or unpacked at the host's pace.
  int64_t crossing_bytes = 0;
  int64_t turns = 0;  // of the overlay: programs that a run starts there
  double crossing_seconds = 0;

  double seconds() const { return node_seconds + crossing_seconds; }
};

HostWork host_work(const Bundle& bundle, const HostModel& host = {});

}  // namespace tilewright
