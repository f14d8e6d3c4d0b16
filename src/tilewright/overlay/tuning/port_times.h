// The memory port at its fastest, as bounds may assume for a memory model.
#pragma once

#include <cstdint>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

struct PortTimes {
  PortTimes(const OverlayHardware& hardware, const MemoryModel& memory);

  // Least cycles of the bus for so many bytes.
  double read_cycles(double bytes) const { return cycles(bytes, read_beat_); }
  double write_cycles(double bytes) const { return cycles(bytes, write_beat_); }
  // Reads and writes have channels of their own, or share one bus.
  double both(double read_bytes, double write_bytes) const;

  double read_latency = 1;   // from the address to the first beat
  double write_latency = 1;  // from the last beat to the response

 private:
  double cycles(double bytes, double beat) const;

  double beat_bytes_ = 8;
  double read_beat_ = 1, write_beat_ = 1;  // cycles from one beat to the next
  double idle_ = 0;                        // cycles per beat that the bus rests after each burst
  double longest_idle_ = 0;                // after a single burst: after the last one nothing waits
  bool shared_ = false;
};

}  // namespace tilewright::overlay
