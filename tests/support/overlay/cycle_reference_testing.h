// The rules of docs/design/overlay/overlay_rtl.md, literally: one step per cycle, registers with a value now
// and one for the next cycle. Slow and simple; what the event-driven cycle simulator is compared with, and
// what tells in which cycle the RTL first differs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright::overlay {

// What registers hold in one cycle. Modules in the order load, compute, store; read clients in the order
// fetch, compute, load; tokens in the order of TokenChannel.
struct CycleRegisters {
  uint64_t cycle = 0;
  uint64_t fetched = 0;        // instructions pushed into queues
  uint32_t in_register = 0;    // instructions in fetch's instruction register
  uint32_t queued[3] = {};     // instructions in each command queue
  uint64_t started[3] = {};    // instructions that each module has started
  uint32_t in_flight[3] = {};  // started and not done
  uint32_t tokens[4] = {};
  bool slot_valid[4] = {};  // burst slots of the read clients, and of store
  uint32_t credits[3] = {};
  uint32_t read_beats[3] = {};  // in each read FIFO
  uint32_t writes_outstanding = 0;
  bool finished = false;
};

class CycleReference {
 public:
  CycleReference(OverlayHardware hardware, MemoryModel memory);
  ~CycleReference();
  // As CycleSimulator::run, for programs without errors; transactions are always recorded. `watch`, if set,
  // sees every cycle. Errors: those of single instructions; (invalid input) nothing happens any more.
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count,
               const std::function<void(const CycleRegisters&)>& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::overlay
