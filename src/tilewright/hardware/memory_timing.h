// The time of memory requests under a memory model: shared by the cycle simulator and by the AXI memory that
// drives the RTL, so that both see the same memory.
//
// Calls come in order of `cycle`; of one cycle, reads before writes. `rready` is always 1 and the memory
// accepts every address and beat in the cycle it is offered.
#pragma once

#include <cstdint>
#include <memory>

#include "tilewright/hardware/memory_model.h"

namespace tilewright {

struct ReadTiming {
  uint64_t first_beat = 0;  // cycle in which beat 0 is transferred; after the last beat of the read before
  uint64_t interval = 1;    // beat i: first_beat + i * interval
};

class MemoryTiming {
 public:
  virtual ~MemoryTiming() = default;
  // A read whose address was accepted in `cycle`.
  virtual ReadTiming read(uint64_t cycle, uint64_t address, uint32_t beats) = 0;
  // A write whose last beat was accepted in `cycle`; returns the cycle of its response, in order.
  virtual uint64_t write(uint64_t cycle, uint64_t address, uint32_t beats) = 0;
};

// A request lies within 4096 aligned bytes. Errors (invalid input): what MemoryModel::verify finds.
std::unique_ptr<MemoryTiming> make_memory_timing(const MemoryModel& model);

}  // namespace tilewright
