// A client of the read master in time: its burst slot, its credits and the cycles in which its beats leave
// its read FIFO. A client whose pops do not depend on others (a loader) knows them as soon as a burst is
// granted.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/burst_generator.h"

namespace tilewright::overlay {

class ReadClient {
 public:
  explicit ReadClient(const OverlayHardware& hardware)
      : generator_(hardware),
        depth_(uint64_t(hardware.read_queue_beats)),
        pop_cycle_(size_t(hardware.read_queue_beats)) {}

  // The generator's first active cycle is `cycle`.
  void activate(uint64_t cycle, const Transfer& transfer) {
    generator_.start(transfer);
    slot_from_ = cycle + 1;
    fill_slot();
  }
  bool has_slot() const { return has_slot_; }
  const Burst& slot() const { return slot_; }
  // The first cycle in which the client asks for the burst in its slot.
  uint64_t asks_from() const {
    if (!has_slot_) return kNever;
    const uint64_t needed = granted_ + slot_.beats;  // beats granted then; all but `depth_` must be popped
    if (needed <= depth_) return slot_from_;
    if (popped_ < needed - depth_) return kNever;
    return std::max(slot_from_, pop_cycle_[(needed - depth_ - 1) & (depth_ - 1)] + 1);
  }
  void take_slot(uint64_t cycle) {
    granted_ += slot_.beats;
    slot_from_ = cycle + 1;
    fill_slot();
  }

  uint64_t granted() const { return granted_; }
  uint64_t popped() const { return popped_; }
  uint64_t last_pop() const { return last_pop_; }
  void pop(uint64_t cycle) {
    pop_cycle_[popped_ & (depth_ - 1)] = cycle;
    ++popped_;
    last_pop_ = cycle;
  }

 protected:
  BurstGenerator generator_;

 private:
  void fill_slot() {
    has_slot_ = generator_.any_left();
    if (has_slot_) slot_ = generator_.next();
  }
  const uint64_t depth_;
  std::vector<uint64_t> pop_cycle_;  // of the last `depth_` popped beats
  uint64_t granted_ = 0, popped_ = 0, last_pop_ = 0;
  bool has_slot_ = false;
  Burst slot_;
  uint64_t slot_from_ = 0;
};

}  // namespace tilewright::overlay
