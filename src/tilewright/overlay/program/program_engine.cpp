// One adapter per simulator. run_overlay() adds the host's part of a run: inputs in, outputs out.
#include "tilewright/overlay/program/program_engine.h"

#include <algorithm>

#include "tilewright/overlay/rtl/registers.h"
#include "tilewright/overlay/rtl/rtl_simulator.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

class FunctionalEngine final : public ProgramEngine {
 public:
  explicit FunctionalEngine(const OverlayHardware& hardware) : simulator_(hardware) {}
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count, CycleObserver*,
               Deadline* deadline) override {
    TimedRun result;
    result.work = simulator_.run(dram, address, count, deadline);
    return result;
  }

 private:
  FunctionalSimulator simulator_;
};

class CycleProgramEngine final : public ProgramEngine {
 public:
  CycleProgramEngine(const OverlayHardware& hardware, const MemoryModel& memory)
      : simulator_(hardware, memory) {}
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count, CycleObserver* observer,
               Deadline* deadline) override {
    CycleOptions options;
    options.observer = observer;
    options.deadline = deadline;
    return simulator_.run(dram, address, count, options);
  }

 private:
  CycleSimulator simulator_;
};

class RtlEngine final : public ProgramEngine {
 public:
  RtlEngine(const OverlayHardware& hardware, const ProgramEngineOptions& options)
      : simulator_(
            hardware, options.memory,
            {.rtl_folder = options.rtl_folder,
             .cache_folder = options.cache_folder,
             .wave_file = options.wave_file,
             .activity = options.activity,
             .stop = [deadline = options.deadline] { return deadline != nullptr && deadline->expired(); }}) {}
  TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count, CycleObserver*,
               Deadline* deadline) override {
    simulator_.model().log_activity(activity);
    return simulator_.run(dram, address, count, {}, deadline);
  }

 private:
  RtlSimulator simulator_;
};

}  // namespace

std::unique_ptr<ProgramEngine> make_program_engine(const OverlayHardware& hardware,
                                                   const ProgramEngineOptions& options) {
  switch (options.kind) {
    case ProgramEngineKind::kFunctional:
      break;
    case ProgramEngineKind::kCycle:
      return std::make_unique<CycleProgramEngine>(hardware, options.memory);
    case ProgramEngineKind::kRtl:
      return std::make_unique<RtlEngine>(hardware, options);
  }
  return std::make_unique<FunctionalEngine>(hardware);
}

namespace {

// Fills the scratchpads with what the program expects there, where they hold something else. Everything that
// a setup loads is in the static part of the memory.
TimedRun prepare(OverlayProgram& program, ProgramEngine& engine, Deadline* deadline) {
  if (program.setup_count == 0) {
    engine.prepared.clear();
    return {};
  }
  const auto wanted =
      std::span(program.memory)
          .subspan(program.static_address, program.instruction_address - program.static_address);
  if (std::ranges::equal(engine.prepared, wanted)) return {};
  engine.prepared.clear();  // should the setup be cut short
  const TimedRun run =
      engine.run(program.memory, program.setup_address, program.setup_count, nullptr, deadline);
  engine.prepared.assign(wanted.begin(), wanted.end());
  return run;
}

}  // namespace

std::map<ValueId, Tensor> run_overlay(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs,
                                      ProgramEngine& engine, TimedRun* timed, CycleObserver* observer,
                                      Deadline* deadline) {
  write_program_inputs(program, inputs);
  const TimedRun setup = prepare(program, engine, deadline);
  TimedRun run =
      engine.run(program.memory, program.instruction_address, program.instruction_count, observer, deadline);
  add(run.cycles, setup.cycles);
  if (timed != nullptr) *timed = std::move(run);
  return read_program_outputs(program);
}

void add(CycleCounters& total, const CycleCounters& run) {
  for (const auto counter : kCounterRegisters) total.*counter += run.*counter;
}

}  // namespace tilewright::overlay
