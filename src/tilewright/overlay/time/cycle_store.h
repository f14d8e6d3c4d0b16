// The store module in time: write bursts, the reader of the OUT mirror, responses, instructions in flight.
#pragma once

#include <cstdint>
#include <deque>

#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/time/burst_generator.h"

namespace tilewright::overlay {

class StoreUnit {
 public:
  static constexpr uint64_t kMostBursts = 8, kMostInFlight = 4;

  explicit StoreUnit(const OverlayHardware& hardware) : generator_(hardware) {}

  // Starts a STORE in `cycle`.
  void start(uint64_t cycle, const Transfer& store);
  // First cycle in which another one may start; kNever until bursts are granted or instructions are done.
  uint64_t ready_from() const;
  // First cycle in which the burst in the slot is granted; kNever without one.
  uint64_t grants_from() const;
  const Burst& slot() const { return slot_; }
  void grant(uint64_t cycle);
  // Cycle of the last W beat of the oldest burst that has not been answered; kNever without one.
  uint64_t writes_until() const { return writing_.empty() ? kNever : writing_.front().last_beat; }
  // Hands that burst to the memory.
  void answer(MemoryTiming& memory);
  // If the oldest instruction in flight has its cycle of being done settled, forgets it and returns that
  // cycle, else kNever.
  uint64_t take_done();
  uint64_t in_flight() const { return uint64_t(in_flight_.size()); }

 private:
  struct InFlight {
    uint64_t earliest_done = 0;  // from its own start or responses
    bool settled = false;
  };
  struct Writing {
    uint64_t address = 0, last_beat = 0;
    uint32_t beats = 0;
    bool last_of_instruction = false;
  };
  void fill_slot();

  BurstGenerator generator_;
  bool has_slot_ = false, small_elements_ = false;
  Burst slot_;
  uint64_t slot_from_ = 0, idle_from_ = 0;
  uint64_t last_grant_ = 0, last_read_ = 0;  // cycle of the last grant, of the last item read
  uint64_t granted_ = 0, answered_ = 0;      // bursts
  uint64_t response_[kMostBursts] = {};      // cycle by burst
  std::deque<Writing> writing_;
  std::deque<InFlight> in_flight_;
  uint64_t started_ = 0, done_ = 0;          // instructions
  uint64_t done_cycle_[kMostInFlight] = {};  // of the last ones
  uint64_t last_done_ = 0;
};

}  // namespace tilewright::overlay
