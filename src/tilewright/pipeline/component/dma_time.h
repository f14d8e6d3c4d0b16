// What dma_read and dma_write share: bursts, which end at multiples of BURST beats, and a queue.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/task_rows.h"

namespace tilewright::pipeline {

class BurstTime {
 public:
  BurstTime(int64_t data_bits, int64_t burst, int64_t address_bits)
      : log_bytes_(std::countr_zero(uint64_t(data_bits / 8))),
        burst_(uint64_t(burst)),
        mask_(address_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << address_bits) - 1) {}

  bool left() const { return left_ != 0; }
  // Of the next burst.
  uint64_t address() const { return (position_ << log_bytes_) & mask_; }
  int64_t beats() const { return int64_t(std::min(left_, burst_ - (position_ & (burst_ - 1)))); }
  void start(uint64_t base, uint64_t bytes) {
    position_ = base >> log_bytes_;
    left_ = bytes >> log_bytes_;
  }
  void ask() {
    const uint64_t asked = uint64_t(beats());
    position_ += asked;
    left_ -= asked;
  }
  int size() const { return log_bytes_; }  // AxSIZE

 private:
  const int log_bytes_;
  const uint64_t burst_, mask_;
  uint64_t position_ = 0, left_ = 0;  // in beats
};

// The times of a stream_fifo inside another component (rtl/pipeline/tw_stream_fifo.sv).
class QueueTime {
 public:
  QueueTime(int64_t depth, const std::string& kind)
      : depth_(depth), late_(kind == "block" || kind == "ultra") {}

  bool can_push() const { return count_ != depth_; }
  bool valid() const { return valid_; }
  int64_t count() const { return count_; }
  void reset() {
    count_ = 0;
    valid_ = false;
  }
  // `ready`: of the output; a push needs can_push().
  void tick(bool push, bool ready) {
    const bool pop = valid_ && ready, free = !valid_ || ready;
    const bool waits = count_ != int64_t{valid_};  // a beat after the output
    count_ += int64_t{push} - int64_t{pop};
    valid_ = !free || waits || (push && !late_);
  }

 private:
  const int64_t depth_;
  const bool late_;
  int64_t count_ = 0;
  bool valid_ = false;
};

// Checks DATA, BURST, QUEUE and A of a dma; `component` is for messages. Errors (invalid input).
void check_burst_parameters(const netlist::Parameters& parameters, const char* component);
// Both take the same area.
ResourceFeatures dma_features(const ComponentSizes& p);

}  // namespace tilewright::pipeline
