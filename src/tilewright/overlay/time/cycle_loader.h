// A loader (of load, or of compute) in time: the steps of its instructions follow from the cycles in which
// their beats arrive, so that every step is known when a burst has been granted.
//
// The steps are not walked one by one. Beat i of a burst arrives in v + i*k and takes h steps, so its last
// step is at the maximum of two lines in i: one follows the steps before it, the other the arrivals. Only
// this pair of lines is kept of a burst, for the credits that its beats return.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tilewright/overlay/time/cycle_reader.h"

namespace tilewright::overlay {

// A LOAD in time: what is read, and the padded elements around it.
struct PaddedTransfer {
  Transfer transfer;
  uint32_t y_pad_0 = 0, y_pad_1 = 0, x_pad_0 = 0, x_pad_1 = 0;

  static PaddedTransfer of(const MemoryInstruction& i, int64_t element_bytes) {
    return {Transfer::of(i, element_bytes), i.y_pad_0, i.y_pad_1, i.x_pad_0, i.x_pad_1};
  }
};

class TensorLoader : public ReadClient {
 public:
  explicit TensorLoader(const OverlayHardware& hardware)
      : ReadClient(hardware), pops_(size_t(2 * hardware.read_queue_beats)) {}

  // Starts a LOAD in `cycle`. Returns the cycle in which it is done, kNever while bursts have to be granted.
  uint64_t start(uint64_t cycle, const PaddedTransfer& load);
  // The burst in the slot is granted in `cycle`, its beats arrive as `timing` says. Returns the cycle in
  // which the LOAD is done if this is its last burst, else kNever.
  uint64_t grant(uint64_t cycle, const ReadTiming& timing);
  // The first cycle in which it asks for the burst in its slot; kNever without one.
  uint64_t asks_from() const { return asks_from_; }
  // First cycle in which the generator is idle; kNever while bursts have to be granted.
  uint64_t idle_from() const { return has_slot() ? kNever : idle_from_; }

 private:
  // The beats after those of the run before, up to number `end`: beat `end - 1 - i` is popped in
  // max(behind_steps - i*step_gap, behind_beats - i*beat_gap).
  struct PopRun {
    uint64_t end = 0;
    uint64_t behind_steps = 0, behind_beats = 0;
    uint32_t step_gap = 0, beat_gap = 0;
  };

  uint64_t finish();
  void take_large(uint32_t beats, const ReadTiming& timing);
  void take_small(const Burst& burst, const ReadTiming& timing);
  void take_beat(uint64_t visible, uint64_t steps);
  void push_run(const PopRun& run) { pops_[runs_++ & (pops_.size() - 1)] = run; }
  void find_credits();

  uint64_t asks_from_ = kNever;
  uint64_t idle_from_ = 0;
  uint64_t next_step_ = 0;  // first cycle in which the next step is possible, but for its data
  uint64_t done_ = 0;       // of the instruction before
  uint64_t pad_before_ = 0, pad_after_ = 0, pad_below_ = 0;  // padded elements of each row, of the last rows
  uint32_t element_log_ = 0;
  // A ring. Credits are waited for of the last read_queue_beats beats and of the run that was waited for
  // before; every run has a beat, so twice as many runs are enough.
  std::vector<PopRun> pops_;
  uint64_t runs_ = 0, oldest_run_ = 0;  // pushed so far; the first that matters
};

inline uint64_t TensorLoader::start(uint64_t cycle, const PaddedTransfer& load) {
  const Transfer& transfer = load.transfer;
  activate(cycle + 1, transfer);
  find_credits();
  idle_from_ = cycle + 2;
  element_log_ = transfer.element_log;
  next_step_ = std::max(cycle, done_) + 1;
  const uint64_t rows = load.y_pad_0 + transfer.rows + load.y_pad_1;
  if (transfer.row_elements == 0 || rows == 0) return done_ = next_step_;
  const uint64_t width = load.x_pad_0 + transfer.row_elements + load.x_pad_1;
  pad_before_ = load.x_pad_0;
  pad_after_ = load.x_pad_1;
  pad_below_ = load.y_pad_1 * width;
  next_step_ += load.y_pad_0 * width;
  return has_slot() ? kNever : finish();
}

inline uint64_t TensorLoader::finish() {
  next_step_ += pad_below_;
  return done_ = next_step_ - 1;
}

// The credits for the burst in the slot come with a beat that has been granted, for a burst needs no more
// than there are.
inline void TensorLoader::find_credits() {
  if (!has_slot()) {
    asks_from_ = kNever;
    return;
  }
  asks_from_ = slot_from();
  const uint64_t needed = pops_needed();
  if (needed == 0) return;
  const size_t mask = pops_.size() - 1;
  while (pops_[oldest_run_ & mask].end < needed) ++oldest_run_;
  const PopRun& run = pops_[oldest_run_ & mask];
  const uint64_t back = run.end - needed;
  asks_from_ = std::max(
      {asks_from_, run.behind_steps - back * run.step_gap + 1, run.behind_beats - back * run.beat_gap + 1});
}

// A beat is at most one element, one step each: step i is in max(next + i, v + i*k), for k is at least 1.
inline void TensorLoader::take_large(uint32_t beats, const ReadTiming& timing) {
  const uint64_t later = beats - 1, visible = timing.first_beat + 2;
  const uint64_t behind_steps = next_step_ + later, behind_beats = visible + later * timing.interval;
  push_run({granted() + beats, behind_steps, behind_beats, 1, uint32_t(timing.interval)});
  next_step_ = std::max(behind_steps, behind_beats) + 1;
}

inline uint64_t TensorLoader::grant(uint64_t cycle, const ReadTiming& timing) {
  const uint32_t beats = slot().beats;
  const bool row_ends = slot().row_ends;
  if (slot().row_begins) next_step_ += pad_before_;
  if (element_log_ >= generator_.beat_log()) {
    take_large(beats, timing);
  } else {
    take_small(slot(), timing);
  }
  if (row_ends) next_step_ += pad_after_;
  take_slot(cycle);
  idle_from_ = cycle + 1;
  find_credits();
  return has_slot() ? kNever : finish();
}

}  // namespace tilewright::overlay
