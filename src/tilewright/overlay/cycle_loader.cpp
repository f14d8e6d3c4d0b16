// One pass over the beats of a granted burst; padding only moves the cycle of the next step.
#include "tilewright/overlay/cycle_loader.h"

#include <algorithm>

namespace tilewright::overlay {

uint64_t TensorLoader::start(uint64_t cycle, const MemoryInstruction& load, int64_t element_bytes) {
  const Transfer transfer = Transfer::of(load, element_bytes);
  activate(cycle + 1, transfer);
  idle_from_ = cycle + 2;
  element_log_ = transfer.element_log;
  next_step_ = std::max(cycle, done_) + 1;
  const uint64_t rows = uint64_t{load.y_pad_0} + load.y_size + load.y_pad_1;
  if (load.x_size == 0 || rows == 0) return done_ = next_step_;
  const uint64_t width = uint64_t{load.x_pad_0} + load.x_size + load.x_pad_1;
  pad_before_ = load.x_pad_0;
  pad_after_ = load.x_pad_1;
  pad_below_ = load.y_pad_1 * width;
  next_step_ += load.y_pad_0 * width;
  return has_slot() ? kNever : finish();
}

uint64_t TensorLoader::finish() {
  next_step_ += pad_below_;
  return done_ = next_step_ - 1;
}

uint64_t TensorLoader::grant(uint64_t cycle, const ReadTiming& timing) {
  const Burst burst = slot();
  take_slot(cycle);
  idle_from_ = cycle + 1;
  if (burst.row_begins) next_step_ += pad_before_;
  if (element_log_ >= generator_.beat_log()) {
    take_large(burst, timing);
  } else {
    take_small(burst, timing);
  }
  if (burst.row_ends) next_step_ += pad_after_;
  return has_slot() ? kNever : finish();
}

// A beat is at most one element: one step each.
void TensorLoader::take_large(const Burst& burst, const ReadTiming& timing) {
  uint64_t step = next_step_, visible = timing.first_beat + 2;
  for (uint32_t beat = 0; beat < burst.beats; ++beat, visible += timing.interval) {
    step = std::max(step, visible);
    pop(step++);
  }
  next_step_ = step;
}

// A beat holds several elements: it is popped with the last one.
void TensorLoader::take_small(const Burst& burst, const ReadTiming& timing) {
  const uint32_t per_beat = 1u << (generator_.beat_log() - element_log_);
  uint32_t left = burst.elements, here = burst.first_elements;
  uint64_t step = next_step_, visible = timing.first_beat + 2;
  for (uint32_t beat = 0; beat < burst.beats; ++beat, visible += timing.interval) {
    step = std::max(step, visible) + here;
    pop(step - 1);
    left -= here;
    here = std::min(per_beat, left);
  }
  next_step_ = step;
}

}  // namespace tilewright::overlay
