// Starts and ends from the closed forms; the memory port is a stream of beats in which the program's
// instructions go first, then the loads in order.
#include "tilewright/overlay/schedule/module_times.h"

#include <algorithm>

namespace tilewright::overlay {
namespace {

// From the start of a LOAD to the step that sees its first beat, beside the memory's latency: the slot, AR,
// the beat itself and the two cycles of the read queue.
constexpr double kReadPath = 5;
// The same of the first instruction, to the head of its command queue.
constexpr double kFetchPath = 7;
constexpr double kWritePath = 4;  // slot, AW, two cycles from the item that is read to W
constexpr double kOutstandingWrites = 8;

}  // namespace

ModuleTimes::ModuleTimes(const OverlayHardware& hardware, const MemoryModel& memory) : hardware_(&hardware) {
  loads_done_.fill(-1);
  stores_done_.fill(-1);
  const MemoryModel::Ddr& ddr = memory.ddr;
  switch (memory.kind) {
    case MemoryModelKind::kIdeal:
      break;
    case MemoryModelKind::kFixed:
      latency_ = memory.latency;
      interval_ = memory.beat_interval;
      break;
    case MemoryModelKind::kDdr:
      latency_ = ddr.controller + ddr.activate + ddr.cas;
      interval_ = ddr.beat_interval;
      break;
  }
}

void ModuleTimes::fetch(int64_t instructions) {
  const double beat_bytes = hardware_->memory_width_bits / 8.0;
  const double beats = double(instructions) * double(hardware_->instruction_bytes()) / beat_bytes * interval_;
  per_instruction_ = std::max(1.0, double(hardware_->instruction_bytes()) / beat_bytes * interval_);
  first_visible_ = latency_ + kFetchPath + per_instruction_ - 1;
  // What fetch may have outstanding it has asked for before the first LOAD starts; the rest shares the port.
  const double ahead = std::min(beats, double(hardware_->read_queue_beats));
  load_done_ = latency_ + ahead;
  fetch_beats_ = beats - ahead;
}

double ModuleTimes::visible() { return first_visible_ + double(instruction_++) * per_instruction_; }

int64_t ModuleTimes::steps_of(int64_t elements, int64_t bytes) const {
  const int64_t beat = hardware_->memory_width_bits / 8;
  return elements * std::max<int64_t>(1, bytes / beat);
}

double ModuleTimes::load(double earliest, int64_t before, int64_t data, int64_t padded, int64_t bytes) {
  const double start = std::max({load_free_, earliest, visible(), loads_done_[loads_ % kInFlight] + 1});
  const double steps = double(steps_of(data, bytes)) * interval_;
  const double shared = std::min(fetch_beats_, steps);
  fetch_beats_ -= shared;
  const double padding = std::max(start, load_done_) + 1 + double(before);
  const double begin = data > 0 ? std::max(padding, start + latency_ + kReadPath) : padding;
  load_done_ = begin + steps + shared + double(padded) - 1;
  load_busy_ += steps + double(before + padded);
  load_free_ = start + 3;
  loads_done_[loads_++ % kInFlight] = load_done_;
  return load_done_;
}

void ModuleTimes::compute(double cycles) {
  compute_free_ = std::max({compute_free_, compute_wait_, visible()}) + cycles;
  last_done_ = gemm_free_ = compute_free_;
  compute_busy_ += cycles;
}

void ModuleTimes::wait(double cycle) { compute_wait_ = std::max(compute_wait_, cycle); }

void ModuleTimes::compute_load(int64_t elements, int64_t bytes) {
  // Behind what load has asked for; it has more and more of it the longer it runs ahead.
  const double start = std::max({compute_free_, compute_wait_, first_visible_});
  const double queued = std::clamp(load_done_ - start, 0.0, double(hardware_->read_queue_beats));
  compute(latency_ + kReadPath + queued + double(steps_of(elements, bytes)) * interval_);
}

void ModuleTimes::gemm(int64_t iterations, bool beside_alu) {
  const double cycles = double(iterations) + 8;
  if (!beside_alu || !hardware_->gemm_beside_alu) return compute(cycles);
  gemm_free_ = std::max({gemm_free_, compute_wait_, visible()}) + cycles;
  last_done_ = gemm_free_;
  compute_free_ = std::max(compute_free_, gemm_free_);
  compute_busy_ += cycles;
}

void ModuleTimes::alu(int64_t steps, bool multiplies) {
  const double slices = double(steps) * hardware_->alu_slices();
  alu_cycles(multiplies ? 5 * slices + 3 : slices + 4);
}

void ModuleTimes::requantize(int64_t steps, int64_t changes) {
  alu_cycles(double(steps) * hardware_->alu_slices() + 3 * double(changes) + 9);
}

void ModuleTimes::alu_cycles(double cycles) {
  compute(cycles);
  // A GEMM beside it starts in the cycle after its start at the earliest.
  gemm_free_ = compute_free_ - cycles + 1;
}

double ModuleTimes::store(double earliest, int64_t rows, int64_t row_bytes, int64_t elements) {
  const double start = std::max({store_free_, earliest, visible(), stores_done_[stores_ % kInFlight] + 1});
  const double row = double(steps_of(elements, row_bytes / std::max<int64_t>(elements, 1))) * interval_;
  // Few short bursts may be outstanding, so short rows wait for responses.
  const double read = double(rows) * std::max(row, (latency_ + row + kWritePath) / kOutstandingWrites);
  store_free_ = start + 2 + read;
  store_busy_ += read;
  store_done_ = std::max(store_done_, start + kWritePath + read + latency_);
  stores_done_[stores_++ % kInFlight] = store_done_;
  return store_done_;
}

}  // namespace tilewright::overlay
