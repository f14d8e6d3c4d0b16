// A loader (of load, or of compute) in time: the steps of its instructions follow from the cycles in which
// their beats arrive, so that every step is known when a burst has been granted.
#pragma once

#include <cstdint>

#include "tilewright/overlay/cycle_reader.h"

namespace tilewright::overlay {

class TensorLoader : public ReadClient {
 public:
  using ReadClient::ReadClient;

  // Starts a LOAD in `cycle`. Returns the cycle in which it is done, kNever while bursts have to be granted.
  uint64_t start(uint64_t cycle, const MemoryInstruction& load, int64_t element_bytes);
  // The burst in the slot is granted in `cycle`, its beats arrive as `timing` says. Returns the cycle in
  // which the LOAD is done if this is its last burst, else kNever.
  uint64_t grant(uint64_t cycle, const ReadTiming& timing);
  // First cycle in which the generator is idle; kNever while bursts have to be granted.
  uint64_t idle_from() const { return has_slot() ? kNever : idle_from_; }

 private:
  uint64_t finish();
  void take_large(const Burst& burst, const ReadTiming& timing);
  void take_small(const Burst& burst, const ReadTiming& timing);

  uint64_t idle_from_ = 0;
  uint64_t next_step_ = 0;  // first cycle in which the next step is possible, but for its data
  uint64_t done_ = 0;       // of the instruction before
  uint64_t pad_before_ = 0, pad_after_ = 0, pad_below_ = 0;  // padded elements of each row, of the last rows
  uint32_t element_log_ = 0;
};

}  // namespace tilewright::overlay
