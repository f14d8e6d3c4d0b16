// Building blocks of the literal reference (cycle_reference_testing.h): registers, FIFOs, burst generators,
// loaders. Within a cycle `now` is read and `next` written, in any order; commit() ends the cycle.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay::reference {

template <typename T>
struct Clocked {
  T now{}, next{};
  void commit() { now = next; }
};

// FIFO1 and FIFO2 of the page: an item pushed in t is at the head from t + latency on, if no other is.
template <typename T>
class Fifo {
 public:
  Fifo(uint64_t latency, int depth) : latency_(latency), depth_(depth) {}
  bool full() const { return count.now >= depth_; }
  bool visible(uint64_t cycle) const {
    return !items_.empty() && cycle >= items_.front().pushed + latency_ && (!popped_ || cycle > last_pop_);
  }
  const T& head() const { return items_.front().value; }
  void push(uint64_t cycle, const T& value) {
    items_.push_back({value, cycle});
    ++count.next;
  }
  void pop(uint64_t cycle) {
    items_.pop_front();
    popped_ = true;
    last_pop_ = cycle;
    --count.next;
  }
  void commit() { count.commit(); }
  Clocked<int> count;

 private:
  struct Item {
    T value;
    uint64_t pushed;
  };
  uint64_t latency_;
  int depth_;
  std::deque<Item> items_;
  bool popped_ = false;
  uint64_t last_pop_ = 0;
};

struct Beats {
  uint64_t address = 0;
  uint32_t beats = 0, elements = 0;
};

// The bursts of a transfer, found beat by beat.
std::vector<Beats> list_bursts(const OverlayHardware& hardware, uint64_t address, uint64_t rows,
                               uint64_t row_bytes, uint64_t row_stride, uint64_t element_bytes);

class Generator {
 public:
  void start(std::vector<Beats> bursts) {
    bursts_ = std::move(bursts);
    position_ = 0;
    active.next = true;
  }
  bool slot_valid() const { return valid_.now; }
  const Beats& slot() const { return bursts_[slot_]; }
  // Its part of a cycle; `granted`: the slot is granted in it.
  void tick(bool granted) {
    if (!active.now || (valid_.now && !granted)) return;
    valid_.next = position_ < bursts_.size();
    active.next = valid_.next;
    if (valid_.next) next_slot_ = position_++;
  }
  void commit() {
    active.commit();
    valid_.commit();
    slot_ = next_slot_;
  }
  Clocked<bool> active;

 private:
  std::vector<Beats> bursts_;
  size_t position_ = 0, slot_ = 0, next_slot_ = 0;
  Clocked<bool> valid_;
};

// A client of the read master.
struct Client {
  explicit Client(const OverlayHardware& hardware)
      : data(2, hardware.read_queue_beats), credits{hardware.read_queue_beats, hardware.read_queue_beats} {}
  bool asks() const { return generator.slot_valid() && credits.now >= int(generator.slot().beats); }
  void pop(uint64_t cycle) {
    data.pop(cycle);
    ++credits.next;
  }
  void commit() {
    generator.commit();
    data.commit();
    credits.commit();
  }
  Generator generator;
  Fifo<char> data;  // beats; what is in them does not matter to time
  Clocked<int> credits;
};

struct Descriptor {
  MemoryInstruction load;
  uint32_t index = 0;
  uint64_t bits = 0;  // word 0 of the instruction
};

class Loader : public Client {
 public:
  explicit Loader(const OverlayHardware& hardware) : Client(hardware), in_flight(1, 4), hardware_(hardware) {}
  bool can_start() const { return !generator.active.now && !in_flight.full(); }
  void start(uint64_t cycle, const Descriptor& descriptor);
  // The step of `cycle`. Returns whether the oldest LOAD is done in it; it is in `finished` then.
  bool tick(uint64_t cycle, Descriptor& finished);
  void commit() {
    Client::commit();
    in_flight.commit();
  }
  Fifo<Descriptor> in_flight;

 private:
  bool step(uint64_t cycle, const MemoryInstruction& i);
  const OverlayHardware& hardware_;
  uint64_t row_ = 0, column_ = 0, part_ = 0;  // in the padded box; beats of the element so far
};

// Slices in flight and kept parameters of requantize, a cycle at a time.
class Requantizer {
 public:
  struct Step {
    uint32_t dst = 0, src = 0;
  };
  void start(std::vector<Step> steps, uint64_t slices, uint64_t first_cycle, bool lookup);
  // Returns whether the instruction is done in `cycle`.
  bool tick(uint64_t cycle);

 private:
  bool in_flight(uint64_t cycle, uint32_t first, uint32_t count) const;
  std::vector<Step> steps_;
  uint64_t slices_ = 1, first_cycle_ = 0;
  uint64_t flight_ = 6;  // cycles from issue to write
  size_t step_ = 0;
  uint64_t slice_ = 0, reads_ = 0;
  bool kept_ = false;
  uint32_t kept_src_ = 0;
  struct Issue {
    uint64_t cycle;
    uint32_t dst;
  };
  std::deque<Issue> issued_;
};

}  // namespace tilewright::overlay::reference
