// What persists between timed runs; a run itself is a CycleEngine.
#include "tilewright/overlay/cycle_simulator.h"

#include <string>

#include "tilewright/overlay/cycle_engine.h"

namespace tilewright::overlay {

struct CycleSimulator::State {
  State(OverlayHardware hardware, MemoryModel description, SimulatorKernel kernel)
      : executor(std::move(hardware), kernel), memory(description) {}
  Executor executor;
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
  Executor& executor = state_->executor;
  executor.begin(dram, address, count);
  executor.effects = options.execute;
  const uint64_t bytes = uint64_t(executor.hardware.instruction_bytes());
  if (address % bytes != 0) {
    throw Error(ErrorKind::kInvalidInput, "the program at byte " + std::to_string(address) +
                                              " is not aligned to its instructions of " +
                                              std::to_string(bytes) + " bytes");
  }
  state_->program.split(executor.layout, dram.data() + address, count);
  const std::unique_ptr<MemoryTiming> memory = make_memory_timing(state_->memory);
  return CycleEngine(executor, state_->program, *memory, options).run();
}

}  // namespace tilewright::overlay
