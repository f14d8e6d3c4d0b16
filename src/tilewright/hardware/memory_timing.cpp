// The three memory models in time. Every request is placed when it arrives, from the few numbers that earlier
// ones left behind: the last beat on each bus, and for DDR the open row and the last beats of each bank.
#include "tilewright/hardware/memory_timing.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

// Latency and bandwidth only, each direction with a bus of its own.
class FixedTiming final : public MemoryTiming {
 public:
  FixedTiming(uint64_t latency, uint64_t interval, uint64_t efficiency_percent)
      : latency_(latency), interval_(interval), efficiency_percent_(efficiency_percent) {}

  ReadTiming read(uint64_t cycle, uint64_t, uint32_t beats) override {
    const uint64_t first = std::max(cycle + latency_, read_free_);
    read_free_ = first + beats * interval_ + idle(beats);
    return {first, interval_};
  }
  uint64_t write(uint64_t cycle, uint64_t, uint32_t beats) override {
    const uint64_t last = std::max(cycle, write_free_ + beats - 1);
    write_free_ = last + 1 + idle(beats);
    return last + latency_;
  }

 private:
  uint64_t idle(uint64_t beats) const {
    if (efficiency_percent_ == 100) return 0;
    return ceil_div(beats * (100 - efficiency_percent_), efficiency_percent_);
  }

  const uint64_t latency_, interval_, efficiency_percent_;
  uint64_t read_free_ = 0, write_free_ = 0;  // the first cycle in which the next burst may transfer
};

class DdrTiming final : public MemoryTiming {
 public:
  explicit DdrTiming(const MemoryModel::Ddr& d)
      : ddr_(d),
        row_shift_(std::countr_zero(d.row_bytes)),
        bank_shift_(std::countr_zero(d.banks)),
        banks_(d.banks) {}

  ReadTiming read(uint64_t cycle, uint64_t address, uint32_t beats) override {
    return {place(cycle, address, beats, kRead), ddr_.beat_interval};
  }
  uint64_t write(uint64_t cycle, uint64_t address, uint32_t beats) override {
    return place(cycle, address, beats, kWrite) + uint64_t{beats - 1} * ddr_.beat_interval + 1;
  }

 private:
  enum Direction { kNone, kRead, kWrite };
  static constexpr uint64_t kClosed = UINT64_MAX;
  struct Bank {
    uint64_t row = kClosed;
    uint64_t last_beat = 0;  // of its last request
    bool written = false;    // that was a write
  };

  // The cycle of the first beat on the bus.
  uint64_t place(uint64_t cycle, uint64_t address, uint32_t beats, Direction direction) {
    const uint64_t global_row = address >> row_shift_;
    Bank& bank = banks_[global_row & (banks_.size() - 1)];
    const uint64_t row = global_row >> bank_shift_;
    uint64_t command = cycle + ddr_.controller;
    if (bank.row != row) {
      if (bank.row != kClosed) {
        const uint64_t recovered = bank.last_beat + (bank.written ? ddr_.write_recovery : 0);
        command = std::max(command, recovered) + ddr_.precharge;
      }
      command += ddr_.activate;
      bank.row = row;
    }
    const uint64_t first = std::max(command + ddr_.cas, bus_free(direction));
    bus_last_ = first + uint64_t{beats - 1} * ddr_.beat_interval;
    bus_direction_ = direction;
    bank.last_beat = bus_last_;
    bank.written = direction == kWrite;
    return first;
  }

  uint64_t bus_free(Direction direction) const {
    if (bus_direction_ == kNone) return 0;
    uint64_t free = bus_last_ + ddr_.beat_interval;
    if (direction != bus_direction_) free += direction == kWrite ? ddr_.read_to_write : ddr_.write_to_read;
    return free;
  }

  const MemoryModel::Ddr ddr_;
  const int row_shift_, bank_shift_;
  std::vector<Bank> banks_;
  Direction bus_direction_ = kNone;
  uint64_t bus_last_ = 0;  // the last beat placed so far
};

}  // namespace

std::unique_ptr<MemoryTiming> make_memory_timing(const MemoryModel& model) {
  Diagnostics diagnostics;
  model.verify(diagnostics);
  diagnostics.raise_if_any();
  switch (model.kind) {
    case MemoryModelKind::kIdeal:
      return std::make_unique<FixedTiming>(1, 1, 100);
    case MemoryModelKind::kFixed:
      return std::make_unique<FixedTiming>(model.latency, model.beat_interval, model.efficiency_percent);
    case MemoryModelKind::kDdr:
      return std::make_unique<DdrTiming>(model.ddr);
  }
  throw Error(ErrorKind::kInternal, "a memory model of unknown kind");
}

}  // namespace tilewright
