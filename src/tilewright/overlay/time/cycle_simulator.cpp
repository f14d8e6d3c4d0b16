// What persists between timed runs, and how a run executes instruction bytes: each when it starts.
#include "tilewright/overlay/time/cycle_simulator.h"

#include <cstring>
#include <string>

#include "tilewright/overlay/time/compute_timing.h"
#include "tilewright/overlay/time/cycle_engine.h"

namespace tilewright::overlay {
namespace {

constexpr OverlayModule kModules[] = {OverlayModule::kLoad, OverlayModule::kCompute, OverlayModule::kStore};

// The Program of CycleEngine for bytes in memory.
class ExecutedProgram {
 public:
  static constexpr bool kCounted = true;

  // `executor` has begun the run, `queues` is its split stream.
  ExecutedProgram(InstructionExecutor& executor, const InstructionQueues& queues, const CycleOptions& options)
      : executor_(executor), queues_(queues), options_(options) {}

  size_t length(Queue queue) const { return queues_.length[queue]; }
  Queue queue_of(uint64_t index, const CommandQueue* commands) const {
    int queue = 0;
    while (commands[queue].pushed() == queues_.length[queue] ||
           queues_.indices[queue][commands[queue].pushed()] != index) {
      ++queue;
    }
    return Queue(queue);
  }
  uint32_t index(Queue queue, uint64_t position) const { return queues_.indices[queue][position]; }
  uint64_t bits(Queue queue, uint64_t position) const {
    uint64_t word;
    std::memcpy(&word, executor_.at(index(queue, position)), sizeof word);
    return word;
  }
  bool runs_beside_alu(uint64_t position) const {
    uint64_t buffer[IsaLayout::kMaxWords];
    return executor_.runs_beside_alu(executor_.read(index(kComputeQueue, position), buffer));
  }

  PaddedTransfer start_transfer(Queue queue, uint64_t position) {
    uint64_t buffer[IsaLayout::kMaxWords];
    const uint32_t i = index(queue, position);
    executor_.time.check();
    const MemoryInstruction instruction = executor_.decode_memory(executor_.read(i, buffer));
    executor_.execute_memory(i, instruction);
    return PaddedTransfer::of(instruction, element_bytes(executor_.hardware, instruction.memory_type));
  }
  uint64_t start_compute(uint64_t position) {
    uint64_t buffer[IsaLayout::kMaxWords];
    const uint32_t i = index(kComputeQueue, position);
    executor_.time.check();
    const uint64_t* in = executor_.read(i, buffer);
    if (IsaOpcode(*in & 7) == IsaOpcode::kAlu) {
      executor_.execute_alu(i, in);
      return alu_time(in);
    }
    executor_.execute_gemm(i, in);
    return gemm_duration(step_count(executor_.decode_extents(executor_.layout.gemm, in)));
  }

  static void on_read(uint32_t) {}
  static uint64_t least_left() { return 0; }

  void on_burst(uint64_t cycle, const Burst& burst, AxiClient client) {
    if (options_.record_transactions) transactions_.push_back({cycle, burst.address, burst.beats, client});
  }
  void on_fetched(uint32_t index, uint64_t in_register, uint64_t push) const {
    if (options_.observer == nullptr) return;
    options_.observer->instruction(
        {OverlayModule::kFetch, index, in_register, in_register, push, decoded(index)});
  }
  void on_done(Queue queue, const StartedInstruction& started, uint64_t cycle) const {
    if (options_.observer == nullptr) return;
    const uint32_t i = index(queue, started.position);
    options_.observer->instruction({kModules[queue], i, started.visible, started.start, cycle, decoded(i)});
  }
  void on_token(Channel channel, const TokenQueue::Token& token, uint64_t position, uint64_t cycle) const {
    if (options_.observer == nullptr) return;
    options_.observer->token(TokenChannel(channel), index(pusher_of(channel), token.pusher), token.cycle,
                             index(popper_of(channel), position), cycle);
  }

  std::vector<AxiTransaction> take_transactions() { return std::move(transactions_); }

 private:
  Instruction decoded(uint32_t index) const {
    uint64_t buffer[IsaLayout::kMaxWords];
    return executor_.layout.decode(executor_.read(index, buffer));
  }
  uint64_t alu_time(const uint64_t* in) const {
    const IsaLayout& layout = executor_.layout;
    const uint64_t slices = uint64_t(executor_.hardware.alu_slices());
    const AluOpcode opcode = AluOpcode(layout.alu_opcode.get(in));
    LoopNest loop = executor_.decode_extents(layout.alu, in);
    if (!requantizes(opcode)) return alu_duration(opcode, loop, slices);
    executor_.decode_factors(layout.alu, in, loop);
    return requantize_duration(loop, executor_.pads.uops, slices, looks_up(opcode),
                               [this] { executor_.time.check(); });
  }

  InstructionExecutor& executor_;
  const InstructionQueues& queues_;
  const CycleOptions& options_;
  std::vector<AxiTransaction> transactions_;
};

}  // namespace

struct CycleSimulator::State {
  State(OverlayHardware hardware, MemoryModel description, SimulatorKernel kernel)
      : executor(std::move(hardware), kernel), memory(description) {}
  InstructionExecutor executor;
  InstructionQueues program;
  MemoryModel memory;
};

CycleSimulator::CycleSimulator(OverlayHardware hardware, MemoryModel memory, SimulatorKernel kernel) {
  Diagnostics diagnostics;
  hardware.verify(diagnostics);
  memory.verify(diagnostics);
  diagnostics.raise_if_any();
  state_ = std::make_unique<State>(std::move(hardware), memory, kernel);
}

CycleSimulator::~CycleSimulator() = default;

TimedRun CycleSimulator::run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                             const CycleOptions& options) {
  InstructionExecutor& executor = state_->executor;
  executor.begin(dram, address, count, options.deadline);
  executor.effects = options.execute;
  state_->program.split(executor.layout, dram.data() + address, count);
  const std::unique_ptr<MemoryTiming> memory = make_memory_timing(state_->memory);
  ExecutedProgram program(executor, state_->program, options);
  CycleEngine<ExecutedProgram> engine(executor.hardware, address, count, program, *memory);
  engine.run();
  return {engine.counters(), executor.counters, program.take_transactions()};
}

}  // namespace tilewright::overlay
