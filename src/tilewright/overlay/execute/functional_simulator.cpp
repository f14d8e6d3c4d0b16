// The order of the functional simulator: the stream is split into the three queues as the fetch unit would;
// then, until all are empty, load runs as far as its tokens allow, then compute, then store, and again. Loads
// so run ahead as early as any hardware could run them: a program that overwrites a scratchpad too early
// computes wrong data here too. For a program without hazards every legal order gives the same result.
#include "tilewright/overlay/execute/functional_simulator.h"

#include <algorithm>

#include "tilewright/overlay/execute/executor.h"
#include "tilewright/overlay/execute/instruction_queues.h"

namespace tilewright::overlay {

struct FunctionalSimulator::State {
  State(OverlayHardware hardware, SimulatorKernel kernel) : executor(std::move(hardware), kernel) {}

  InstructionExecutor executor;
  // Of the current run.
  InstructionQueues queues;
  size_t head[kQueues] = {};
  uint64_t tokens[kChannels + 1] = {};

  void run();
  template <Queue kQueue>
  bool advance();
  [[noreturn]] void report_deadlock() const;
};

// Runs the instructions of one queue until one has to wait. Returns whether any ran.
template <Queue kQueue>
bool FunctionalSimulator::State::advance() {
  constexpr ChannelWiring kWires = kWiring[kQueue];
  const uint32_t* const mine = queues.indices[kQueue].data();
  const size_t end = queues.length[kQueue];
  const size_t first = head[kQueue];
  size_t next = first;
  uint64_t buffer[IsaLayout::kMaxWords];
  for (; next < end; ++next) {
    const uint32_t index = mine[next];
    executor.time.check();
    const uint64_t* in = executor.read(index, buffer);
    const uint64_t bits = in[0];
    if constexpr (kWires.pop_prev != kNoChannel) {
      if ((bits & kPopPrev) != 0 && tokens[kWires.pop_prev] == 0) break;
    }
    if constexpr (kWires.pop_next != kNoChannel) {
      if ((bits & kPopNext) != 0 && tokens[kWires.pop_next] == 0) break;
    }
    if constexpr (kWires.pop_prev != kNoChannel) tokens[kWires.pop_prev] -= (bits & kPopPrev) != 0;
    if constexpr (kWires.pop_next != kNoChannel) tokens[kWires.pop_next] -= (bits & kPopNext) != 0;
    if constexpr (kQueue == kComputeQueue) {
      const uint64_t op = bits & 7;
      if (op == uint64_t(IsaOpcode::kGemm)) {
        executor.execute_gemm(index, in);
      } else if (op == uint64_t(IsaOpcode::kAlu)) {
        executor.execute_alu(index, in);
      } else if (op == uint64_t(IsaOpcode::kLoad)) {
        executor.execute_memory(index, executor.decode_memory(in));
      }
    } else {
      const bool done = kQueue == kLoadQueue && (executor.words == 2 ? executor.load_input_row<false>(in)
                                                                     : executor.load_input_row<true>(in));
      if (!done) executor.execute_memory(index, executor.decode_memory(in));
    }
    if constexpr (kWires.push_prev != kNoChannel) tokens[kWires.push_prev] += (bits & kPushPrev) != 0;
    if constexpr (kWires.push_next != kNoChannel) tokens[kWires.push_next] += (bits & kPushNext) != 0;
  }
  head[kQueue] = next;
  return next != first;
}

void FunctionalSimulator::State::report_deadlock() const {
  std::vector<Diagnostic> problems;
  for (const Queue q : {kLoadQueue, kComputeQueue, kStoreQueue}) {
    if (head[q] == queues.length[q]) continue;
    const uint32_t index = queues.indices[q][head[q]];
    uint64_t buffer[IsaLayout::kMaxWords];
    const uint64_t bits = *executor.read(index, buffer);
    const Channel prev = kWiring[q].pop_prev, next = kWiring[q].pop_next;
    const bool waits_prev = (bits & kPopPrev) != 0 && prev != kNoChannel && tokens[prev] == 0;
    problems.push_back(deadlock_of(q, index, waits_prev ? prev : next, queues.length[q] - head[q]));
  }
  throw Error(std::move(problems));
}

void FunctionalSimulator::State::run() {
  std::fill(std::begin(head), std::end(head), 0);
  std::fill(std::begin(tokens), std::end(tokens), 0);
  for (;;) {
    const bool loaded = advance<kLoadQueue>();
    const bool computed = advance<kComputeQueue>();
    const bool stored = advance<kStoreQueue>();
    if (std::equal(std::begin(head), std::end(head), std::begin(queues.length))) return;
    if (!loaded && !computed && !stored) report_deadlock();
  }
}

FunctionalSimulator::FunctionalSimulator(OverlayHardware hardware, SimulatorKernel kernel)
    : state_(std::make_unique<State>(std::move(hardware), kernel)) {}

FunctionalSimulator::~FunctionalSimulator() = default;

RunCounters FunctionalSimulator::run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                                     Deadline* deadline) {
  InstructionExecutor& executor = state_->executor;
  executor.begin(dram, address, count, deadline);
  state_->queues.split(executor.layout, dram.data() + address, count);
  state_->run();
  return executor.counters;
}

}  // namespace tilewright::overlay
