// Beats enter the gather register while the instruction register is empty or is being emptied.
#include "tilewright/overlay/time/cycle_fetch.h"

#include <bit>

namespace tilewright::overlay {

FetchUnit::FetchUnit(const OverlayHardware& hardware, uint64_t address, uint64_t count)
    : ReadClient(hardware), count_(count), arrival_(size_t(depth())), pop_cycle_(size_t(depth())) {
  const uint32_t log = uint32_t(std::countr_zero(uint64_t(hardware.instruction_bytes())));
  if (log >= generator_.beat_log()) {
    beats_per_instruction_ = 1u << (log - generator_.beat_log());
  } else {
    instructions_per_beat_ = 1u << (generator_.beat_log() - log);
    first_in_beat_ = uint32_t(address >> log) & (instructions_per_beat_ - 1);
  }
  activate(0, Transfer{address, 0, 1, count, log});
}

void FetchUnit::grant(uint64_t cycle, const ReadTiming& timing) {
  const uint64_t first = granted();
  const uint32_t beats = slot().beats;
  take_slot(cycle);
  for (uint32_t beat = 0; beat < beats; ++beat) {
    arrival_[(first + beat) & (depth() - 1)] = timing.first_beat + beat * timing.interval;
  }
}

// Fills the empty instruction register; false when the beats for that have not been granted.
bool FetchUnit::gather() {
  if (index_ == count_) return false;
  while (gathered_ < beats_per_instruction_) {
    if (popped_ == granted()) return false;
    uint64_t cycle = std::max(arrival_[popped_ & (depth() - 1)] + 2, last_pop_ + 1);
    if (gathered_ == 0) cycle = std::max(cycle, last_push_);
    pop(cycle);
    ++gathered_;
  }
  gathered_ = 0;
  in_register_ = uint32_t(std::min<uint64_t>(instructions_per_beat_ - first_in_beat_, count_ - index_));
  first_in_beat_ = 0;
  register_from_ = last_pop_ + 1;
  return true;
}

}  // namespace tilewright::overlay
