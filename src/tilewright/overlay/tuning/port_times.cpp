// The rules are those of hardware/memory_model.h, at what is fastest in each: DDR rows are open, banks free,
// the bus never turns.
#include "tilewright/overlay/tuning/port_times.h"

#include <algorithm>

namespace tilewright::overlay {

PortTimes::PortTimes(const OverlayHardware& hardware, const MemoryModel& memory)
    : beat_bytes_(hardware.memory_width_bits / 8.0) {
  switch (memory.kind) {
    case MemoryModelKind::kIdeal:
      break;
    case MemoryModelKind::kFixed:
      read_latency = write_latency = memory.latency;
      read_beat_ = memory.beat_interval;
      idle_ = (100.0 - memory.efficiency_percent) / memory.efficiency_percent;
      longest_idle_ = idle_ > 0 ? idle_ * hardware.max_burst_beats + 1 : 0;
      break;
    case MemoryModelKind::kDdr:
      read_latency = memory.ddr.controller + memory.ddr.cas;
      write_latency = 1;
      read_beat_ = write_beat_ = memory.ddr.beat_interval;
      shared_ = true;
      break;
  }
}

double PortTimes::cycles(double bytes, double beat) const {
  const double beats = bytes / beat_bytes_;
  return std::max(beats * beat, beats * (beat + idle_) - longest_idle_);
}

double PortTimes::both(double read_bytes, double write_bytes) const {
  const double reads = read_cycles(read_bytes), writes = write_cycles(write_bytes);
  return shared_ ? reads + writes : std::max(reads, writes);
}

}  // namespace tilewright::overlay
