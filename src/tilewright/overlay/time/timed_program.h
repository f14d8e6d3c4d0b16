// A program as nothing but its times: what CycleEngine needs of each instruction, made by a Runtime in place
// of instruction bytes. GEMM and ALU instructions have their duration, transfers what they move and pad;
// what they compute is gone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "tilewright/overlay/execute/instruction_queues.h"
#include "tilewright/overlay/time/cycle_loader.h"
#include "tilewright/overlay/time/cycle_queues.h"

namespace tilewright::overlay {

struct TimedInstruction {
  uint8_t bits = 0;  // opcode and dependency bits, as in word 0
  bool beside_alu = false;
  uint8_t element_log = 0;                                     // of the bytes of an element
  uint8_t y_pad_0 = 0, y_pad_1 = 0, x_pad_0 = 0, x_pad_1 = 0;  // of a LOAD
  uint32_t rows = 0, row_elements = 0;
  uint64_t address = 0, row_stride = 0;  // bytes
  uint64_t duration = 0;                 // of GEMM and ALU: cycles from the start to being done
};

// The Program of CycleEngine (cycle_engine.h) without data.
class TimedProgram {
 public:
  static constexpr bool kCounted = false;

  explicit TimedProgram(const OverlayHardware& hardware)
      : beat_log_(uint32_t(std::countr_zero(uint32_t(hardware.memory_width_bits / 8)))),
        instruction_bytes_(uint64_t(hardware.instruction_bytes())),
        alu_overlaps_(hardware.gemm_beside_alu) {
    for (const MemoryType type : kMemoryTypes) {
      element_log_[size_t(type)] = uint8_t(std::countr_zero(uint64_t(element_bytes(hardware, type))));
    }
  }

  // Keeps the room of what it held.
  void clear() {
    order_.clear();
    for (std::vector<TimedInstruction>& queue : queues_) queue.clear();
    read_bytes_ = serial_cycles_ = 0;
  }
  // `bits`: dependencies and opcode.
  void append(Queue queue, uint8_t bits, const MemoryInstruction& i) {
    TimedInstruction timed;
    timed.bits = bits;
    timed.element_log = element_log_[size_t(i.memory_type)];
    timed.y_pad_0 = uint8_t(i.y_pad_0);
    timed.y_pad_1 = uint8_t(i.y_pad_1);
    timed.x_pad_0 = uint8_t(i.x_pad_0);
    timed.x_pad_1 = uint8_t(i.x_pad_1);
    timed.rows = i.x_size == 0 ? 0 : i.y_size;
    timed.row_elements = i.x_size;
    timed.address = uint64_t{i.dram_base} << timed.element_log;
    timed.row_stride = uint64_t{i.x_stride} << timed.element_log;
    const uint64_t elements = uint64_t{timed.rows} * timed.row_elements;
    if (queue != kStoreQueue) read_bytes_ += elements << timed.element_log;
    if (queue == kComputeQueue) serial_cycles_ += elements + 1;
    add(queue, timed);
  }
  void append(const TimedInstruction& compute) {
    if (occupies(compute)) serial_cycles_ += compute.duration + 1;
    add(kComputeQueue, compute);
  }
  // Instruction `position` of compute's queue reads from `bytes` further on.
  void move_transfer(uint64_t position, uint64_t bytes) { queues_[kComputeQueue][position].address += bytes; }
  // The last instruction of a queue; null before the first.
  TimedInstruction* last(Queue queue) { return queues_[queue].empty() ? nullptr : &queues_[queue].back(); }
  uint64_t count() const { return order_.size(); }
  // The next run starts.
  void begin() {
    serial_left_ = serial_cycles_;
    beats_left_ = int64_t((read_bytes_ + order_.size() * instruction_bytes_) >> beat_log_);
  }

  size_t length(Queue queue) const { return queues_[queue].size(); }
  Queue queue_of(uint64_t index, const CommandQueue*) const { return Queue(order_[index]); }
  uint32_t index(Queue queue, uint64_t position) const {
    uint32_t at = 0;
    for (uint64_t before = 0; Queue(order_[at]) != queue || before++ != position;) ++at;
    return at;
  }
  uint64_t bits(Queue queue, uint64_t position) const { return queues_[queue][position].bits; }
  bool runs_beside_alu(uint64_t position) const { return queues_[kComputeQueue][position].beside_alu; }
  PaddedTransfer start_transfer(Queue queue, uint64_t position) {
    const TimedInstruction& i = queues_[queue][position];
    if (queue == kComputeQueue) serial_left_ -= uint64_t{i.rows} * i.row_elements + 1;
    return {{i.address, i.row_stride, i.rows, i.row_elements, i.element_log},
            i.y_pad_0,
            i.y_pad_1,
            i.x_pad_0,
            i.x_pad_1};
  }
  uint64_t start_compute(uint64_t position) {
    const TimedInstruction& i = queues_[kComputeQueue][position];
    if (occupies(i)) serial_left_ -= i.duration + 1;
    return i.duration;
  }
  void on_read(uint32_t beats) { beats_left_ -= beats; }
  // Cycles that are left at least: of a read beat each, and of the instructions of compute that cannot
  // overlap each its own.
  uint64_t least_left() const { return std::max(serial_left_, uint64_t(std::max<int64_t>(0, beats_left_))); }

 private:
  void add(Queue queue, const TimedInstruction& timed) {
    queues_[queue].push_back(timed);
    order_.push_back(uint8_t(queue));
  }
  // All but ALU instructions wait for each other even where GEMM runs beside ALU.
  bool occupies(const TimedInstruction& compute) const {
    return !alu_overlaps_ || IsaOpcode(compute.bits & 7) != IsaOpcode::kAlu;
  }

  const uint32_t beat_log_;
  const uint64_t instruction_bytes_;
  const bool alu_overlaps_;
  uint8_t element_log_[size_t(MemoryType::kWeightColumns) + 1] = {};  // by MemoryType
  std::vector<uint8_t> order_;                                        // the queue of each instruction
  std::vector<TimedInstruction> queues_[kQueues];
  uint64_t read_bytes_ = 0, serial_cycles_ = 0;
  uint64_t serial_left_ = 0;
  int64_t beats_left_ = 0;  // may fall below 0: bursts read beats that hold less than they could
};

}  // namespace tilewright::overlay
