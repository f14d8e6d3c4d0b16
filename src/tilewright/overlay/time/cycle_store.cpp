// The reader takes the bursts one after the other without waiting for anything, so a grant fixes the cycles
// of all its beats; responses settle instructions in order.
#include "tilewright/overlay/time/cycle_store.h"

#include <algorithm>

namespace tilewright::overlay {

void StoreUnit::fill_slot() {
  has_slot_ = generator_.any_left();
  if (has_slot_) generator_.next(slot_);
}

void StoreUnit::start(uint64_t cycle, const Transfer& transfer) {
  small_elements_ = transfer.element_log < generator_.beat_log();
  generator_.start(transfer);
  fill_slot();
  slot_from_ = cycle + 2;
  idle_from_ = cycle + 2;
  ++started_;
  in_flight_.push_back({cycle + 2, !has_slot_});
}

uint64_t StoreUnit::ready_from() const {
  if (has_slot_ || started_ - done_ >= kMostInFlight) return kNever;
  if (started_ < kMostInFlight) return idle_from_;
  return std::max(idle_from_, done_cycle_[started_ % kMostInFlight] + 1);
}

uint64_t StoreUnit::grants_from() const {
  if (!has_slot_) return kNever;
  uint64_t from = slot_from_;
  if (granted_ > 0) from = std::max({from, last_read_, last_grant_ + 2});
  if (granted_ >= kMostBursts) {
    TILEWRIGHT_CHECK(answered_ + kMostBursts > granted_, "a write burst is granted before its turn");
    from = std::max(from, response_[granted_ % kMostBursts] + 1);
  }
  return from;
}

void StoreUnit::grant(uint64_t cycle) {
  const uint32_t beats = slot_.beats, items = small_elements_ ? slot_.elements : beats;
  const uint64_t address = slot_.address;
  fill_slot();
  last_grant_ = cycle;
  last_read_ = cycle + items;
  slot_from_ = cycle + 1;
  idle_from_ = last_read_ + 1;
  ++granted_;
  writing_.push_back({address, last_read_ + 2, beats, !has_slot_});
}

void StoreUnit::answer(MemoryTiming& memory) {
  const Writing burst = writing_.front();
  writing_.pop_front();
  const uint64_t response = memory.write(burst.last_beat, burst.address, burst.beats);
  response_[answered_++ % kMostBursts] = response;
  if (!burst.last_of_instruction) return;
  // The oldest that has not been settled.
  for (InFlight& instruction : in_flight_) {
    if (instruction.settled) continue;
    instruction = {response + 1, true};
    break;
  }
}

uint64_t StoreUnit::take_done() {
  if (in_flight_.empty() || !in_flight_.front().settled) return kNever;
  last_done_ = std::max(in_flight_.front().earliest_done, last_done_ + 1);
  in_flight_.pop_front();
  done_cycle_[done_++ % kMostInFlight] = last_done_;
  return last_done_;
}

}  // namespace tilewright::overlay
