// A description of the memory at an overlay's or a pipeline's AXI port. Its behaviour in time is
// hardware/memory_timing.h, which the cycle simulator and the AXI memory of the RTL share.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

enum class MemoryModelKind { kIdeal, kFixed, kDdr };

// All times in cycles of the accelerator's clock.
struct MemoryModel {
  MemoryModelKind kind = MemoryModelKind::kFixed;
  // kFixed: the first beat of a read comes at the earliest `latency` cycles after its address was accepted,
  // then one beat every `beat_interval` cycles; the response of a write `latency` cycles after its last beat.
  // Reads and writes do not meet. After the last beat of a burst of n beats the bus of that direction is idle
  // for ceil(n * (100 - efficiency) / efficiency) cycles (refresh, turns, row changes); the memory buffers
  // beats written meanwhile, and answers as if they had come when the bus was free. kIdeal is latency 1 and
  // interval 1.
  uint32_t latency = 32, beat_interval = 1, efficiency_percent = 100;
  // kDdr: one bus for both directions, served in order of arrival: a read arrives with its address, a write
  // with its last beat. Byte a lies in row a / row_bytes / banks of bank a / row_bytes % banks; rows stay
  // open. `controller` cycles after arrival the bank's commands start: none if the row is open, `activate`
  // cycles if none is, else `precharge + activate`, with precharge not before the last beat of the bank's
  // previous request (a write: + write_recovery). The first beat is on the bus `cas` cycles later or when the
  // bus is free. Banks prepare while others transfer. A write is answered in the cycle after its last beat.
  struct Ddr {
    uint32_t banks = 8, row_bytes = 8192;
    uint32_t controller = 10;
    uint32_t activate = 3, cas = 3, precharge = 3;  // tRCD, CL, tRP
    uint32_t write_recovery = 3;                    // last written beat to precharge
    uint32_t read_to_write = 2, write_to_read = 4;  // bus turnaround: idle cycles between beats
    uint32_t beat_interval = 1;
    bool operator==(const Ddr&) const = default;
  } ddr;
  bool operator==(const MemoryModel&) const = default;
  // Every rule the description breaks (zero sizes, row_bytes below 4096 or no power of two, ...).
  void verify(Diagnostics& diagnostics) const;
};

// "ideal", "fixed", "fixed:LATENCY", "fixed:LATENCY:INTERVAL", "fixed:LATENCY:INTERVAL:EFFICIENCY", "ddr", or
// a YAML file with the fields above.
// Errors (invalid input): none of these, all problems of a file at once.
MemoryModel find_memory_model(const std::string& name_or_path);
MemoryModel parse_memory_model(const std::string& text, const std::string& source_name);
// The YAML form; parses back to an equal description.
std::string print_memory_model(const MemoryModel& model);

}  // namespace tilewright
