// For tests: stream_frame, its beats against counting.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "support/pipeline/component_bench_testing.h"

namespace tilewright::pipeline {

// stream_frame: of every KEEP + DROP beats the first KEEP pass, then ADD beats of zeros.
class FrameCase : public BenchCase {
 public:
  FrameCase(int64_t width, int64_t keep, int64_t drop, int64_t add)
      : BenchCase("stream_frame", {{"WIDTH", width}, {"KEEP", keep}, {"DROP", drop}, {"ADD", add}}),
        keep_(keep),
        drop_(drop),
        add_(add) {}
  void begin() override {
    expected_.clear();
    wrong_.clear();
    position_ = 0;
  }
  void transferred(const std::string& stream, const Beat& data, bool) override {
    if (stream == "out") {
      if (expected_.empty() || !(expected_.front() == data)) wrong_ = "an unexpected beat";
      if (!expected_.empty()) expected_.pop_front();
      return;
    }
    if (position_ < keep_) expected_.push_back(data);
    if (++position_ < keep_ + drop_) return;
    position_ = 0;
    for (int64_t i = 0; i < add_; ++i) expected_.push_back(Beat(data.bits()));
  }
  std::string finish() override { return expected_.size() > size_t(add_ + 1) ? "beats are missing" : wrong_; }

 private:
  const int64_t keep_, drop_, add_;
  int64_t position_ = 0;
  std::deque<Beat> expected_;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
