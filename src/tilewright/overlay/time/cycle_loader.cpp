// Beats of several elements; larger elements are inline in the header. The first and the last beat of a burst
// are taken on their own, all between them as one pair of lines.
#include "tilewright/overlay/time/cycle_loader.h"

#include <algorithm>

namespace tilewright::overlay {

void TensorLoader::take_beat(uint64_t visible, uint64_t steps) {
  next_step_ = std::max(next_step_, visible) + steps;
}

// A beat holds several elements: it is popped with the last one. The first and the last beat of a burst may
// hold fewer than the others; of those, number i is popped in max(next + (i+1)*h, w + i*max(k, h) + h) - 1, w
// being the arrival of the first.
void TensorLoader::take_small(const Burst& burst, const ReadTiming& timing) {
  const uint32_t per_beat = 1u << (generator_.beat_log() - element_log_);
  const uint64_t begin = granted(), visible = timing.first_beat + 2;
  const auto single = [&](uint64_t beat, uint64_t steps) {
    take_beat(visible + beat * timing.interval, steps);
    push_run({begin + beat + 1, next_step_ - 1, 0, 0, 0});
  };
  single(0, burst.first_elements);
  if (burst.beats == 1) return;
  const uint64_t between = burst.beats - 2;
  if (between > 0) {
    const uint64_t gap = std::max<uint64_t>(timing.interval, per_beat);
    const uint64_t behind_steps = next_step_ + between * per_beat - 1;
    const uint64_t behind_beats = visible + timing.interval + (between - 1) * gap + per_beat - 1;
    push_run({begin + 1 + between, behind_steps, behind_beats, per_beat, uint32_t(gap)});
    next_step_ = std::max(behind_steps, behind_beats) + 1;
  }
  single(burst.beats - 1, burst.elements - burst.first_elements - between * per_beat);
}

}  // namespace tilewright::overlay
