// A client of the read master in time: its burst slot and the bursts after it. When it asks for the burst in
// the slot depends on its credits, which come back as beats leave its read FIFO: the clients decide that.
#pragma once

#include <cstdint>

#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/time/burst_generator.h"

namespace tilewright::overlay {

class ReadClient {
 public:
  explicit ReadClient(const OverlayHardware& hardware)
      : generator_(hardware), depth_(uint64_t(hardware.read_queue_beats)) {}

  bool has_slot() const { return has_slot_; }
  const Burst& slot() const { return slot_; }

 protected:
  // The generator's first active cycle is `cycle`.
  void activate(uint64_t cycle, const Transfer& transfer) {
    generator_.start(transfer);
    slot_from_ = cycle + 1;
    fill_slot();
  }
  void take_slot(uint64_t cycle) {
    granted_ += slot_.beats;
    slot_from_ = cycle + 1;
    fill_slot();
  }
  uint64_t granted() const { return granted_; }  // beats
  uint64_t slot_from() const { return slot_from_; }
  // Beats that must have been popped before there are credits for the burst in the slot.
  uint64_t pops_needed() const {
    const uint64_t beats = granted_ + slot_.beats;
    return beats > depth_ ? beats - depth_ : 0;
  }
  uint64_t depth() const { return depth_; }

  BurstGenerator generator_;

 private:
  void fill_slot() {
    has_slot_ = generator_.any_left();
    if (has_slot_) generator_.next(slot_);
  }
  const uint64_t depth_;
  uint64_t granted_ = 0;
  bool has_slot_ = false;
  Burst slot_;
  uint64_t slot_from_ = 0;
};

}  // namespace tilewright::overlay
