// How dma_read and dma_write cut their bytes into bursts: each ends at a multiple of BURST beats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
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

// Checks DATA, BURST, QUEUE and A of a dma; `component` is for messages. Errors (invalid input).
void check_burst_parameters(const netlist::Parameters& parameters, const char* component);

}  // namespace tilewright::pipeline
