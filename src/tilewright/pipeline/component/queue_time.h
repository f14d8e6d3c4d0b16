// The times of a stream_fifo inside another component (rtl/pipeline/tw_stream_fifo.sv).
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::pipeline {

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

}  // namespace tilewright::pipeline
