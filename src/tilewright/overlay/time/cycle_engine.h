// One timed run: the units of the overlay and the events between them.
//
// The events are the starts of instructions, grants of bursts and last beats of write bursts; they are taken
// in the order of their cycles. Everything else follows at once in closed form: a granted read burst fixes
// the cycles of all its beats, of the steps they feed and of the instruction's end; a started GEMM or ALU
// instruction its own end; tokens are announced with the future cycle of their push. What an event changes
// takes effect a cycle later at the earliest (everything is registered), so the order within a cycle matters
// only to the memory.
//
// The Program defines what instructions are and what they do, so the same events time instruction bytes that
// are executed (cycle_simulator.cpp) and programs that exist only as times (timed_program.h). An instruction
// is identified by its queue and its position there. A Program has
//   size_t length(Queue)
//   Queue queue_of(uint64_t index, const CommandQueue*)    of instruction `index`, the next to be pushed
//   uint32_t index(Queue, uint64_t position)               in the program; for messages
//   uint64_t bits(Queue, uint64_t position)                opcode and dependency bits, as in word 0
//   bool runs_beside_alu(uint64_t position)                of a GEMM
// and is told when an instruction starts:
//   PaddedTransfer start_transfer(Queue, uint64_t position)
//   uint64_t start_compute(uint64_t position)              GEMM or ALU; returns the cycles until it is done
//   void on_read(uint32_t beats)                           a burst of reads is granted
//   uint64_t least_left()                                  cycles until the end, at least; for limits
// With kCounted it also counts states and is shown everything (see ExecutedProgram).
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "tilewright/overlay/execute/executor.h"
#include "tilewright/overlay/execute/instruction_queues.h"
#include "tilewright/overlay/time/cycle_counters.h"
#include "tilewright/overlay/time/cycle_fetch.h"
#include "tilewright/overlay/time/cycle_loader.h"
#include "tilewright/overlay/time/cycle_observer.h"
#include "tilewright/overlay/time/cycle_queues.h"
#include "tilewright/overlay/time/cycle_store.h"
#include "tilewright/search/deadline.h"

namespace tilewright::overlay {

// An instruction that has started, as its module remembers it.
struct StartedInstruction {
  uint64_t position = 0;
  uint64_t bits = 0;     // word 0
  uint64_t visible = 0;  // could have started but for its tokens
  uint64_t start = 0;
  uint64_t load_token = 0;  // first cycle in which load's token was there; 0 if none was needed
};

template <typename Program>
class CycleEngine {
 public:
  // `count` instructions from byte `address` on.
  CycleEngine(const OverlayHardware& hardware, uint64_t address, uint64_t count, Program& program,
              MemoryTiming& memory)
      : hardware_(hardware),
        program_(program),
        memory_(memory),
        commands_{CommandQueue(hardware.command_queue_depth), CommandQueue(hardware.command_queue_depth),
                  CommandQueue(hardware.command_queue_depth)},
        fetch_(hardware, address, count),
        load_(hardware),
        compute_loader_(hardware),
        store_(hardware) {}

  // Returns the cycles of the run, or kNever as soon as they are sure to be more than `limit`.
  // Throws Expired when the time of `deadline`, if any, is over.
  uint64_t run(uint64_t limit = kNever - 1, const Deadline* deadline = nullptr);
  // The state counters of a run that has ended (kCounted).
  CycleCounters counters() const;

 private:
  struct Module {
    uint64_t next_start = kNever, visible = kNever, load_token = 0;  // of the head of its queue
    uint64_t last_done = 0;                                          // the latest
    bool any_done = false;
    uint64_t busy = 0, token = 0;  // cycles
  };

  void refresh(Queue queue);
  uint64_t ready_from(Queue queue, uint64_t bits) const;
  void refresh_reads();
  bool grant_read();
  void grant_store();
  void start(Queue queue, uint64_t cycle);
  void start_load(const StartedInstruction& started);
  void start_compute(const StartedInstruction& started);
  void start_store(const StartedInstruction& started);
  void done(Queue queue, const StartedInstruction& started, uint64_t cycle);
  void count_states(Queue queue, const StartedInstruction& started, uint64_t cycle);
  void count_compute(uint64_t start, uint64_t end);
  void settle_stores();
  void advance_fetch();
  void take_token(Channel channel, uint64_t position, uint64_t cycle);
  void push_token(Channel channel, uint64_t position, uint64_t cycle);
  uint64_t cycles() const;
  [[noreturn]] void overflow(Channel channel, const TokenQueue::Token& token) const;
  void check_overflows() const;
  [[noreturn]] void report_deadlock() const;

  const OverlayHardware& hardware_;
  Program& program_;
  MemoryTiming& memory_;

  CommandQueue commands_[kQueues];
  TokenQueue tokens_[kChannels];
  FetchUnit fetch_;
  TensorLoader load_, compute_loader_;
  StoreUnit store_;
  Module module_[kQueues];

  // Load: of its instructions in flight all but the newest are known to be done at load_done_.
  StartedInstruction loading_;
  uint64_t load_done_[4] = {};
  StartedInstruction computing_;
  uint64_t* compute_cycles_ = nullptr;      // the counter of what was started last
  uint64_t alu_done_ = 0, other_done_ = 0;  // of the last ALU instruction, of the last other one; 0: none
  bool compute_busy_ = false;               // runs, and the cycle of being done is not known
  std::deque<StartedInstruction> storing_;

  uint64_t next_read_ = kNever, last_read_grant_ = 0;
  AxiClient reader_ = AxiClient::kFetch;  // to be granted in next_read_
  bool any_read_ = false;
  uint64_t finish_ = kNever;  // cycle of FINISH
  CycleCounters counters_;
};

template <typename Program>
uint64_t CycleEngine<Program>::run(uint64_t limit, const Deadline* deadline) {
  refresh_reads();
  DeadlineWatch watch(deadline);
  for (;;) {
    watch.check();
    const uint64_t starts = std::min(
        {module_[kLoadQueue].next_start, module_[kComputeQueue].next_start, module_[kStoreQueue].next_start});
    const uint64_t writes_until = store_.writes_until(), store_grant = store_.grants_from();
    const uint64_t cycle = std::min({starts, next_read_, writes_until, store_grant});
    if (cycle == kNever) break;
    if (cycle + program_.least_left() > limit) return kNever;
    // The last beat of a write in this cycle comes before the read accepted in the next.
    if (writes_until == cycle) {
      store_.answer(memory_);
      settle_stores();
    } else if (next_read_ == cycle) {
      // A LOAD's bursts one after the other, as long as nothing else happens.
      const uint64_t others = std::min({starts, writes_until, store_grant});
      while (grant_read() && next_read_ < others && next_read_ <= limit) {
      }
    } else if (store_grant == cycle) {
      grant_store();
    } else {
      for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
        if (module_[q].next_start == cycle) start(q, cycle);
      }
    }
  }
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if (commands_[q].started() != program_.length(q)) {
      check_overflows();
      report_deadlock();
    }
  }
  check_overflows();
  return cycles() > limit ? kNever : cycles();
}

// Structural readiness of a module: without regard to its queue and tokens.
template <typename Program>
uint64_t CycleEngine<Program>::ready_from(Queue queue, uint64_t bits) const {
  switch (queue) {
    case kLoadQueue:
      return load_.has_slot() ? kNever
                              : std::max(load_.idle_from(), load_done_[commands_[queue].started() % 4] + 1);
    case kComputeQueue:
      if (compute_busy_) return kNever;
      if (hardware_.gemm_beside_alu && IsaOpcode(bits & 7) == IsaOpcode::kGemm &&
          program_.runs_beside_alu(commands_[queue].started())) {
        return other_done_ + 1;
      }
      return module_[queue].last_done + 1;
    default:
      return store_.ready_from();
  }
}

template <typename Program>
void CycleEngine<Program>::refresh(Queue queue) {
  Module& m = module_[queue];
  m.next_start = kNever;
  if (commands_[queue].empty()) return;
  const uint64_t bits = program_.bits(queue, commands_[queue].started());
  const uint64_t ready = ready_from(queue, bits);
  if (ready == kNever) return;
  m.visible = std::max(commands_[queue].head_from(), ready);
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  const uint64_t prev_from = (bits & kPopPrev) != 0 && prev != kNoChannel ? tokens_[prev].from() : 0;
  const uint64_t next_from = (bits & kPopNext) != 0 && next != kNoChannel ? tokens_[next].from() : 0;
  m.load_token = prev_from;
  m.next_start = std::max({m.visible, prev_from, next_from});
}

// The client that asks first, in the order of their priorities where several do.
template <typename Program>
void CycleEngine<Program>::refresh_reads() {
  const uint64_t fetch = fetch_.asks_from(), compute = compute_loader_.asks_from(), load = load_.asks_from();
  next_read_ = std::min({fetch, compute, load});
  if (next_read_ == kNever) return;
  if (any_read_) next_read_ = std::max(next_read_, last_read_grant_ + 1);
  reader_ = fetch <= next_read_     ? AxiClient::kFetch
            : compute <= next_read_ ? AxiClient::kCompute
                                    : AxiClient::kLoad;
}

// Returns whether this changed only which burst is granted next.
template <typename Program>
bool CycleEngine<Program>::grant_read() {
  const uint64_t cycle = next_read_;
  const Burst& burst = reader_ == AxiClient::kLoad    ? load_.slot()
                       : reader_ == AxiClient::kFetch ? fetch_.slot()
                                                      : compute_loader_.slot();
  last_read_grant_ = cycle;
  any_read_ = true;
  if constexpr (Program::kCounted) {
    ++counters_.read_bursts;
    counters_.read_beats += burst.beats;
    program_.on_burst(cycle + 1, burst, reader_);
  }
  program_.on_read(burst.beats);
  const ReadTiming timing = memory_.read(cycle + 1, burst.address, burst.beats);
  uint64_t end = kNever;
  if (reader_ == AxiClient::kLoad) {
    end = load_.grant(cycle, timing);
    if (end != kNever) done(kLoadQueue, loading_, end);
  } else if (reader_ == AxiClient::kCompute) {
    end = compute_loader_.grant(cycle, timing);
    if (end != kNever) done(kComputeQueue, computing_, end);
  } else {
    fetch_.grant(cycle, timing);
    advance_fetch();
    end = cycle;
  }
  refresh_reads();
  return end == kNever;
}

template <typename Program>
void CycleEngine<Program>::grant_store() {
  const uint64_t cycle = store_.grants_from();
  if constexpr (Program::kCounted) {
    ++counters_.write_bursts;
    counters_.write_beats += store_.slot().beats;
    program_.on_burst(cycle + 1, store_.slot(), AxiClient::kStore);
  }
  store_.grant(cycle);
  if (store_.grants_from() == kNever) refresh(kStoreQueue);
}

template <typename Program>
void CycleEngine<Program>::advance_fetch() {
  const unsigned pushed =
      fetch_.advance(program_, commands_, [this](uint32_t index, uint64_t from, uint64_t push) {
        if constexpr (Program::kCounted) program_.on_fetched(index, from, push);
      });
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if ((pushed & (1u << q)) != 0 && module_[q].next_start == kNever) refresh(q);
  }
}

template <typename Program>
void CycleEngine<Program>::take_token(Channel channel, uint64_t position, uint64_t cycle) {
  TokenQueue& queue = tokens_[channel];
  if (const TokenQueue::Token* token = queue.overflow_by(cycle)) overflow(channel, *token);
  const TokenQueue::Token token = queue.pop();
  if constexpr (Program::kCounted) program_.on_token(channel, token, position, cycle);
}

template <typename Program>
void CycleEngine<Program>::start(Queue queue, uint64_t cycle) {
  Module& m = module_[queue];
  const uint64_t position = commands_[queue].started(), bits = program_.bits(queue, position);
  const StartedInstruction started{position, bits, m.visible, cycle, m.load_token};
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  if ((bits & kPopPrev) != 0 && prev != kNoChannel) take_token(prev, position, cycle);
  if ((bits & kPopNext) != 0 && next != kNoChannel) take_token(next, position, cycle);
  commands_[queue].start(cycle);
  switch (queue) {
    case kLoadQueue:
      start_load(started);
      break;
    case kComputeQueue:
      start_compute(started);
      break;
    default:
      start_store(started);
  }
  if (fetch_.waits_for(queue)) {
    advance_fetch();
    refresh_reads();
  }
  refresh(queue);
}

template <typename Program>
void CycleEngine<Program>::start_load(const StartedInstruction& started) {
  const uint64_t end = load_.start(started.start, program_.start_transfer(kLoadQueue, started.position));
  loading_ = started;
  if (end != kNever) {
    done(kLoadQueue, started, end);
  } else {
    refresh_reads();
  }
}

template <typename Program>
void CycleEngine<Program>::start_compute(const StartedInstruction& started) {
  uint64_t duration = 0;
  compute_cycles_ = nullptr;
  switch (IsaOpcode(started.bits & 7)) {
    case IsaOpcode::kGemm:
      duration = program_.start_compute(started.position);
      compute_cycles_ = &counters_.compute_gemm;
      break;
    case IsaOpcode::kAlu:
      duration = program_.start_compute(started.position);
      compute_cycles_ = &counters_.compute_alu;
      break;
    case IsaOpcode::kLoad: {
      compute_cycles_ = &counters_.compute_load;
      const uint64_t end =
          compute_loader_.start(started.start, program_.start_transfer(kComputeQueue, started.position));
      if (end == kNever) {
        computing_ = started;
        compute_busy_ = true;
        return refresh_reads();
      }
      duration = end - started.start;
      break;
    }
    default:
      finish_ = started.start;
  }
  done(kComputeQueue, started, started.start + duration);
}

template <typename Program>
void CycleEngine<Program>::start_store(const StartedInstruction& started) {
  store_.start(started.start, program_.start_transfer(kStoreQueue, started.position).transfer);
  storing_.push_back(started);
  settle_stores();
}

template <typename Program>
void CycleEngine<Program>::settle_stores() {
  bool any = false;
  for (uint64_t end = store_.take_done(); end != kNever; end = store_.take_done()) {
    done(kStoreQueue, storing_.front(), end);
    storing_.pop_front();
    any = true;
  }
  if (any) refresh(kStoreQueue);
}

// Everything that follows from the last cycle of an instruction, which may lie ahead.
template <typename Program>
void CycleEngine<Program>::done(Queue queue, const StartedInstruction& started, uint64_t cycle) {
  Module& m = module_[queue];
  if constexpr (Program::kCounted) count_states(queue, started, cycle);
  if (queue == kLoadQueue) {
    load_done_[(commands_[queue].started() - 1) % 4] = cycle;
  } else if (queue == kComputeQueue) {
    compute_busy_ = false;
    (compute_cycles_ == &counters_.compute_alu ? alu_done_ : other_done_) = cycle;
  }
  m.last_done = std::max(m.last_done, cycle);
  m.any_done = true;
  if constexpr (Program::kCounted) program_.on_done(queue, started, cycle);
  push_token((started.bits & kPushPrev) != 0 ? kWiring[queue].push_prev : kNoChannel, started.position,
             cycle);
  push_token((started.bits & kPushNext) != 0 ? kWiring[queue].push_next : kNoChannel, started.position,
             cycle);
  if (m.next_start == kNever) refresh(queue);
}

template <typename Program>
void CycleEngine<Program>::count_states(Queue queue, const StartedInstruction& started, uint64_t cycle) {
  Module& m = module_[queue];
  const uint64_t free_from = m.any_done ? m.last_done + 1 : 0;
  const uint64_t waits_from = std::max(started.visible, free_from);
  if (started.start > waits_from) {
    const uint64_t token_load = std::clamp(started.load_token, waits_from, started.start) - waits_from;
    m.token += started.start - waits_from;
    if (queue == kComputeQueue) {
      counters_.compute_token_load += token_load;
      counters_.compute_token_store += started.start - waits_from - token_load;
    }
  }
  if (queue == kComputeQueue) {
    count_compute(started.start, cycle);
  } else {
    m.busy += cycle + 1 - std::max(started.start, free_from);
  }
}

// A cycle in which both run counts as GEMM's.
template <typename Program>
void CycleEngine<Program>::count_compute(uint64_t start, uint64_t end) {
  if (compute_cycles_ != nullptr) *compute_cycles_ += end + 1 - start;
  if (compute_cycles_ == &counters_.compute_alu) return;
  if (start <= alu_done_) counters_.compute_alu -= std::min(alu_done_, end) + 1 - start;
}

template <typename Program>
void CycleEngine<Program>::push_token(Channel channel, uint64_t position, uint64_t cycle) {
  if (channel == kNoChannel) return;
  const bool overtakes = tokens_[channel].push(cycle, position);
  const Queue consumer = popper_of(channel);
  if (overtakes || module_[consumer].next_start == kNever) refresh(consumer);
}

template <typename Program>
void CycleEngine<Program>::overflow(Channel channel, const TokenQueue::Token& token) const {
  fail_instruction(program_.index(pusher_of(channel), token.pusher), "",
                   std::string("pushes the 256th token on ") + channel_name(channel) + " in cycle " +
                       std::to_string(token.cycle),
                   "a channel holds 255 tokens; let the other module pop some earlier");
}

template <typename Program>
void CycleEngine<Program>::check_overflows() const {
  for (const Channel c : {kLoadToCompute, kComputeToLoad, kComputeToStore, kStoreToCompute}) {
    if (const TokenQueue::Token* token = tokens_[c].overflow_by(kNever)) overflow(c, *token);
  }
}

template <typename Program>
void CycleEngine<Program>::report_deadlock() const {
  std::vector<Diagnostic> problems;
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if (commands_[q].empty()) continue;
    const uint64_t position = commands_[q].started(), bits = program_.bits(q, position);
    const Channel prev = kWiring[q].pop_prev, next = kWiring[q].pop_next;
    const bool waits_prev = (bits & kPopPrev) != 0 && prev != kNoChannel && tokens_[prev].from() == kNever;
    problems.push_back(
        deadlock_of(q, program_.index(q, position), waits_prev ? prev : next, program_.length(q) - position));
    if (fetch_.waits_for(q)) {
      problems.back().hint += ", or use a command_queue_depth over " +
                              std::to_string(hardware_.command_queue_depth) +
                              ": this queue is full and keeps later instructions from the others";
    }
  }
  throw Error(std::move(problems));
}

// Every condition of the end is a register that shows its event a cycle later.
template <typename Program>
uint64_t CycleEngine<Program>::cycles() const {
  uint64_t last = std::max(finish_, fetch_.last_push());
  for (const Module& m : module_) last = std::max(last, m.last_done);
  return last + 2;
}

template <typename Program>
CycleCounters CycleEngine<Program>::counters() const {
  CycleCounters c = counters_;
  c.cycles = cycles();
  c.fetch_idle = c.cycles - (fetch_.last_push() + 1);
  c.fetch_blocked = fetch_.blocked_cycles();
  c.fetch_busy = c.cycles - c.fetch_idle - c.fetch_blocked;
  const Module &load = module_[kLoadQueue], &store = module_[kStoreQueue];
  c.load_busy = load.busy;
  c.load_token = load.token;
  c.load_starved = c.cycles - load.busy - load.token;
  c.store_busy = store.busy;
  c.store_token = store.token;
  c.store_starved = c.cycles - store.busy - store.token;
  c.compute_starved = c.cycles - c.compute_gemm - c.compute_alu - c.compute_load - c.compute_token_load -
                      c.compute_token_store;
  return c;
}

}  // namespace tilewright::overlay
