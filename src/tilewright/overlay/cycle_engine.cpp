// The events are the starts of instructions, grants of bursts and last beats of write bursts; they are taken
// in the order of their cycles. All else follows in closed form at once: a granted read burst fixes the
// cycles of all its beats, of the steps they feed and of the instruction's end; a started GEMM or ALU
// instruction its own end; tokens are announced with the future cycle of their push. What an event changes
// takes effect a cycle later at the earliest (everything is registered), so the order within a cycle matters
// to the memory only.
#include "tilewright/overlay/cycle_engine.h"

#include <algorithm>
#include <string>

#include "tilewright/overlay/compute_timing.h"

namespace tilewright::overlay {
namespace {

constexpr OverlayModule kModules[] = {OverlayModule::kLoad, OverlayModule::kCompute, OverlayModule::kStore};

}  // namespace

CycleEngine::CycleEngine(Executor& executor, const InstructionQueues& program, MemoryTiming& memory,
                         const CycleOptions& options)
    : executor_(executor),
      program_(program),
      memory_(memory),
      options_(options),
      commands_{CommandQueue(executor.hardware.command_queue_depth),
                CommandQueue(executor.hardware.command_queue_depth),
                CommandQueue(executor.hardware.command_queue_depth)},
      fetch_(executor.hardware, executor.stream_begin, executor.counters.instructions),
      load_(executor.hardware),
      compute_loader_(executor.hardware),
      store_(executor.hardware) {}

TimedRun CycleEngine::run() {
  refresh_reads();
  for (;;) {
    const uint64_t starts = std::min(
        {module_[kLoadQueue].next_start, module_[kComputeQueue].next_start, module_[kStoreQueue].next_start});
    const uint64_t writes_until = store_.writes_until(), store_grant = store_.grants_from();
    const uint64_t cycle = std::min({starts, next_read_, writes_until, store_grant});
    if (cycle == kNever) break;
    // The last beat of a write in this cycle comes before the read accepted in the next.
    if (writes_until == cycle) {
      store_.answer(memory_);
      settle_stores();
    } else if (next_read_ == cycle) {
      grant_read();
    } else if (store_grant == cycle) {
      grant_store();
    } else {
      for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
        if (module_[q].next_start == cycle) start(q, cycle);
      }
    }
  }
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if (commands_[q].started() != program_.length[q]) {
      check_overflows();
      report_deadlock();
    }
  }
  check_overflows();
  return result();
}

// Structural readiness of a module: without regard to its queue and tokens.
uint64_t CycleEngine::ready_from(Queue queue, const uint64_t* head) const {
  switch (queue) {
    case kLoadQueue:
      return load_.has_slot() ? kNever
                              : std::max(load_.idle_from(), load_done_[commands_[queue].started() % 4] + 1);
    case kComputeQueue:
      if (compute_busy_) return kNever;
      if (Opcode(*head & 7) == Opcode::kGemm && executor_.runs_beside_alu(head)) return other_done_ + 1;
      return module_[queue].last_done + 1;
    default:
      return store_.ready_from();
  }
}

void CycleEngine::refresh(Queue queue) {
  Module& m = module_[queue];
  m.next_start = kNever;
  if (commands_[queue].empty()) return;
  uint64_t buffer[IsaLayout::kMaxWords];
  const uint64_t* head = executor_.read(program_.indices[queue][commands_[queue].started()], buffer);
  const uint64_t ready = ready_from(queue, head), bits = *head;
  if (ready == kNever) return;
  m.visible = std::max(commands_[queue].head_from(), ready);
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  const uint64_t prev_from = (bits & kPopPrev) != 0 && prev != kNoChannel ? tokens_[prev].from() : 0;
  const uint64_t next_from = (bits & kPopNext) != 0 && next != kNoChannel ? tokens_[next].from() : 0;
  m.load_token = prev_from;
  m.next_start = std::max({m.visible, prev_from, next_from});
}

void CycleEngine::refresh_reads() {
  const uint64_t asks[] = {fetch_.asks_from(), compute_loader_.asks_from(), load_.asks_from()};
  ReadClient* const clients[] = {&fetch_, &compute_loader_, &load_};
  next_read_ = std::min({asks[0], asks[1], asks[2]});
  if (next_read_ == kNever) return;
  if (any_read_) next_read_ = std::max(next_read_, last_read_grant_ + 1);
  size_t first = 0;
  while (asks[first] > next_read_) ++first;
  reader_ = clients[first];
}

void CycleEngine::record(uint64_t cycle, const Burst& burst, AxiClient client) {
  if (options_.record_transactions) run_.transactions.push_back({cycle, burst.address, burst.beats, client});
}

void CycleEngine::grant_read() {
  const uint64_t cycle = next_read_;
  const Burst burst = reader_->slot();
  last_read_grant_ = cycle;
  any_read_ = true;
  ++run_.cycles.read_bursts;
  run_.cycles.read_beats += burst.beats;
  const ReadTiming timing = memory_.read(cycle + 1, burst.address, burst.beats);
  if (reader_ == &load_) {
    record(cycle + 1, burst, AxiClient::kLoad);
    const uint64_t end = load_.grant(cycle, timing);
    if (end != kNever) done(kLoadQueue, loading_, end);
  } else if (reader_ == &compute_loader_) {
    record(cycle + 1, burst, AxiClient::kCompute);
    const uint64_t end = compute_loader_.grant(cycle, timing);
    if (end != kNever) done(kComputeQueue, computing_, end);
  } else {
    record(cycle + 1, burst, AxiClient::kFetch);
    fetch_.grant(cycle, timing);
    advance_fetch();
  }
  refresh_reads();
}

void CycleEngine::grant_store() {
  const uint64_t cycle = store_.grants_from();
  const Burst burst = store_.slot();
  store_.grant(cycle);
  ++run_.cycles.write_bursts;
  run_.cycles.write_beats += burst.beats;
  record(cycle + 1, burst, AxiClient::kStore);
  if (store_.grants_from() == kNever) refresh(kStoreQueue);
}

void CycleEngine::advance_fetch() {
  const unsigned pushed =
      fetch_.advance(program_, commands_, [this](uint32_t index, uint64_t from, uint64_t push) {
        if (options_.observer == nullptr) return;
        uint64_t buffer[IsaLayout::kMaxWords];
        options_.observer->instruction({OverlayModule::kFetch, index, from, from, push,
                                        executor_.layout.decode(executor_.read(index, buffer))});
      });
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if ((pushed & (1u << q)) != 0 && module_[q].next_start == kNever) refresh(q);
  }
}

void CycleEngine::take_token(Channel channel, uint32_t index, uint64_t cycle) {
  TokenQueue& queue = tokens_[channel];
  if (const TokenQueue::Token* token = queue.overflow_by(cycle)) overflow(channel, *token);
  const TokenQueue::Token token = queue.pop();
  if (options_.observer != nullptr) {
    options_.observer->token(TokenChannel(channel), token.pusher, token.cycle, index, cycle);
  }
}

void CycleEngine::start(Queue queue, uint64_t cycle) {
  Module& m = module_[queue];
  const uint32_t index = program_.indices[queue][commands_[queue].started()];
  uint64_t buffer[IsaLayout::kMaxWords];
  const uint64_t* in = executor_.read(index, buffer);
  const Running running{index, *in, m.visible, cycle, m.load_token};
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  if ((*in & kPopPrev) != 0 && prev != kNoChannel) take_token(prev, index, cycle);
  if ((*in & kPopNext) != 0 && next != kNoChannel) take_token(next, index, cycle);
  commands_[queue].start(cycle);
  switch (queue) {
    case kLoadQueue:
      start_load(running, in);
      break;
    case kComputeQueue:
      start_compute(running, in);
      break;
    default:
      start_store(running, in);
  }
  if (fetch_.waits_for(queue)) {
    advance_fetch();
    refresh_reads();
  }
  refresh(queue);
}

void CycleEngine::start_load(const Running& running, const uint64_t* in) {
  const MemoryInstruction i = executor_.decode_memory(in);
  executor_.execute_memory(running.index, i);
  const uint64_t end = load_.start(running.start, i, element_bytes(executor_.hardware, i.memory_type));
  loading_ = running;
  if (end != kNever) {
    done(kLoadQueue, running, end);
  } else {
    refresh_reads();
  }
}

void CycleEngine::start_compute(const Running& running, const uint64_t* in) {
  uint64_t duration = 0;
  compute_cycles_ = nullptr;
  switch (Opcode(*in & 7)) {
    case Opcode::kGemm: {
      executor_.execute_gemm(running.index, in);
      duration = gemm_duration(step_count(executor_.decode_extents(executor_.layout.gemm, in)));
      compute_cycles_ = &run_.cycles.compute_gemm;
      break;
    }
    case Opcode::kAlu:
      executor_.execute_alu(running.index, in);
      duration = alu_time(in);
      compute_cycles_ = &run_.cycles.compute_alu;
      break;
    case Opcode::kLoad: {
      const MemoryInstruction i = executor_.decode_memory(in);
      executor_.execute_memory(running.index, i);
      compute_cycles_ = &run_.cycles.compute_load;
      const uint64_t end =
          compute_loader_.start(running.start, i, element_bytes(executor_.hardware, i.memory_type));
      if (end == kNever) {
        computing_ = running;
        compute_busy_ = true;
        return refresh_reads();
      }
      duration = end - running.start;
      break;
    }
    default:
      finish_ = running.start;
  }
  done(kComputeQueue, running, running.start + duration);
}

uint64_t CycleEngine::alu_time(const uint64_t* in) const {
  const IsaLayout& layout = executor_.layout;
  const uint64_t slices = uint64_t(executor_.hardware.alu_slices());
  const AluOpcode opcode = AluOpcode(layout.alu_opcode.get(in));
  LoopNest loop = executor_.decode_extents(layout.alu, in);
  if (opcode != AluOpcode::kRequantize) return alu_duration(opcode, step_count(loop), slices);
  executor_.decode_factors(layout.alu, in, loop);
  return requantize_duration(loop, executor_.pads.uops, slices);
}

void CycleEngine::start_store(const Running& running, const uint64_t* in) {
  const MemoryInstruction i = executor_.decode_memory(in);
  executor_.execute_memory(running.index, i);
  store_.start(running.start, i, element_bytes(executor_.hardware, MemoryType::kOutput));
  storing_.push_back(running);
  settle_stores();
}

void CycleEngine::settle_stores() {
  bool any = false;
  for (uint64_t end = store_.take_done(); end != kNever; end = store_.take_done()) {
    done(kStoreQueue, storing_.front(), end);
    storing_.pop_front();
    any = true;
  }
  if (any) refresh(kStoreQueue);
}

// Everything that follows from the last cycle of an instruction, which may lie ahead.
void CycleEngine::done(Queue queue, const Running& running, uint64_t cycle) {
  Module& m = module_[queue];
  const uint64_t free_from = m.any_done ? m.last_done + 1 : 0;
  const uint64_t waits_from = std::max(running.visible, free_from);
  if (running.start > waits_from) {
    const uint64_t token_load = std::clamp(running.load_token, waits_from, running.start) - waits_from;
    m.token += running.start - waits_from;
    if (queue == kComputeQueue) {
      run_.cycles.compute_token_load += token_load;
      run_.cycles.compute_token_store += running.start - waits_from - token_load;
    }
  }
  if (queue == kComputeQueue) {
    count_compute(running.start, cycle);
  } else {
    m.busy += cycle + 1 - std::max(running.start, free_from);
  }
  m.last_done = std::max(m.last_done, cycle);
  m.any_done = true;
  if (queue == kLoadQueue) {
    load_done_[(commands_[queue].started() - 1) % 4] = cycle;
  } else if (queue == kComputeQueue) {
    compute_busy_ = false;
  }
  if (options_.observer != nullptr) {
    uint64_t buffer[IsaLayout::kMaxWords];
    options_.observer->instruction({kModules[queue], running.index, running.visible, running.start, cycle,
                                    executor_.layout.decode(executor_.read(running.index, buffer))});
  }
  push_token((running.bits & kPushPrev) != 0 ? kWiring[queue].push_prev : kNoChannel, running.index, cycle);
  push_token((running.bits & kPushNext) != 0 ? kWiring[queue].push_next : kNoChannel, running.index, cycle);
  if (m.next_start == kNever) refresh(queue);
}

// A cycle in which both run counts as GEMM's.
void CycleEngine::count_compute(uint64_t start, uint64_t end) {
  if (compute_cycles_ != nullptr) *compute_cycles_ += end + 1 - start;
  if (compute_cycles_ == &run_.cycles.compute_alu) {
    alu_done_ = end;
    return;
  }
  if (start <= alu_done_) run_.cycles.compute_alu -= std::min(alu_done_, end) + 1 - start;
  other_done_ = end;
}

void CycleEngine::push_token(Channel channel, uint32_t index, uint64_t cycle) {
  if (channel == kNoChannel) return;
  const bool overtakes = tokens_[channel].push(cycle, index);
  const Queue consumer = channel == kLoadToCompute || channel == kStoreToCompute ? kComputeQueue
                         : channel == kComputeToLoad                             ? kLoadQueue
                                                                                 : kStoreQueue;
  if (overtakes || module_[consumer].next_start == kNever) refresh(consumer);
}

void CycleEngine::overflow(Channel channel, const TokenQueue::Token& token) const {
  fail_instruction(token.pusher, "",
                   std::string("pushes the 256th token on ") + channel_name(channel) + " in cycle " +
                       std::to_string(token.cycle),
                   "a channel holds 255 tokens; let the other module pop some earlier");
}

void CycleEngine::check_overflows() const {
  for (const Channel c : {kLoadToCompute, kComputeToLoad, kComputeToStore, kStoreToCompute}) {
    if (const TokenQueue::Token* token = tokens_[c].overflow_by(kNever)) overflow(c, *token);
  }
}

void CycleEngine::report_deadlock() const {
  std::vector<Diagnostic> problems;
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if (commands_[q].empty()) continue;
    const uint32_t index = program_.indices[q][commands_[q].started()];
    uint64_t buffer[IsaLayout::kMaxWords];
    const uint64_t bits = *executor_.read(index, buffer);
    const Channel prev = kWiring[q].pop_prev, next = kWiring[q].pop_next;
    const bool waits_prev = (bits & kPopPrev) != 0 && prev != kNoChannel && tokens_[prev].from() == kNever;
    problems.push_back(
        deadlock_of(q, index, waits_prev ? prev : next, program_.length[q] - commands_[q].started()));
    if (fetch_.waits_for(q)) {
      problems.back().hint += ", or use a command_queue_depth over " +
                              std::to_string(executor_.hardware.command_queue_depth) +
                              ": this queue is full and keeps later instructions from the others";
    }
  }
  throw Error(std::move(problems));
}

TimedRun CycleEngine::result() {
  CycleCounters& c = run_.cycles;
  // Every condition of the end is a register that shows its event a cycle later.
  uint64_t last = std::max(finish_, fetch_.last_push());
  for (const Module& m : module_) last = std::max(last, m.last_done);
  c.cycles = last + 2;
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
  run_.work = executor_.counters;
  return std::move(run_);
}

}  // namespace tilewright::overlay
