// The fetch unit in time: from the beats of the program to pushes into the command queues. Runs as far ahead
// as granted bursts and known room in the queues allow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tilewright/overlay/execute/instruction_queues.h"
#include "tilewright/overlay/time/cycle_observer.h"
#include "tilewright/overlay/time/cycle_queues.h"
#include "tilewright/overlay/time/cycle_reader.h"

namespace tilewright::overlay {

class FetchUnit : public ReadClient {
 public:
  // Cycle 0 of a program of `count` instructions at byte `address`, a multiple of their size.
  FetchUnit(const OverlayHardware& hardware, uint64_t address, uint64_t count);

  // The first cycle in which it asks for the burst in its slot; kNever without one, or until it has popped
  // more.
  uint64_t asks_from() const {
    if (!has_slot()) return kNever;
    const uint64_t needed = pops_needed();
    if (needed == 0) return slot_from();
    if (popped_ < needed) return kNever;
    return std::max(slot_from(), pop_cycle_[(needed - 1) & (depth() - 1)] + 1);
  }
  // The burst in the slot is granted in `cycle`; advance() has to follow.
  void grant(uint64_t cycle, const ReadTiming& timing);
  // Pushes what can be pushed. Returns the queues that got an instruction, a bit each.
  // `on_push(index, in_register_cycle, push_cycle)`.
  template <typename Program, typename OnPush>
  unsigned advance(const Program& program, CommandQueue* commands, const OnPush& on_push);
  // Waits for room in `queue`, as of the last advance().
  bool waits_for(Queue queue) const { return waits_for_ == queue; }

  bool finished() const { return index_ == count_; }
  uint64_t last_push() const { return last_push_; }
  uint64_t blocked_cycles() const { return blocked_; }

 private:
  bool gather();
  void pop(uint64_t cycle) {
    pop_cycle_[popped_++ & (depth() - 1)] = cycle;
    last_pop_ = cycle;
  }

  const uint64_t count_;
  uint32_t beats_per_instruction_ = 1, instructions_per_beat_ = 1;
  uint32_t first_in_beat_ = 0;  // instructions' places of the next beat that the program does not use
  // By beat, of the last ones granted: the cycles of arrival and of leaving the read FIFO.
  std::vector<uint64_t> arrival_, pop_cycle_;
  uint64_t popped_ = 0, last_pop_ = 0;
  uint64_t index_ = 0;          // next instruction to push
  uint32_t gathered_ = 0;       // beats of it in the gather register
  uint32_t in_register_ = 0;    // instructions in the instruction register
  uint64_t register_from_ = 0;  // first cycle in which the oldest of them can leave
  uint64_t last_push_ = 0, blocked_ = 0;
  Queue waits_for_ = kQueues;
};

// `program.queue_of(index, commands)`: of instruction `index`, the next one to be pushed.
template <typename Program, typename OnPush>
unsigned FetchUnit::advance(const Program& program, CommandQueue* commands, const OnPush& on_push) {
  unsigned pushed = 0;
  waits_for_ = kQueues;
  while (in_register_ > 0 || gather()) {
    const Queue queue = program.queue_of(index_, commands);
    const uint64_t room = commands[queue].room_from();
    if (room == kNever) {
      waits_for_ = queue;
      break;
    }
    last_push_ = std::max(register_from_, room);
    blocked_ += last_push_ - register_from_;
    commands[queue].push(last_push_);
    on_push(uint32_t(index_), register_from_, last_push_);
    pushed |= 1u << queue;
    register_from_ = last_push_ + 1;
    --in_register_;
    ++index_;
  }
  return pushed;
}

}  // namespace tilewright::overlay
