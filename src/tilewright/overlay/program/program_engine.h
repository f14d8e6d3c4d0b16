// The engines that execute instruction bytes, behind one interface: the functional simulator, the cycle
// simulator and the RTL. All leave the same memory behind; the last two agree on the cycles as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/time/cycle_counters.h"
#include "tilewright/overlay/time/cycle_observer.h"
#include "tilewright/synthesis/activity.h"

namespace tilewright::overlay {

enum class ProgramEngineKind { kFunctional, kCycle, kRtl };

struct ProgramEngineOptions {
  ProgramEngineKind kind = ProgramEngineKind::kFunctional;
  MemoryModel memory;                              // kCycle, kRtl
  std::filesystem::path rtl_folder, cache_folder;  // kRtl: rtl/ of Tilewright; where compiled models are kept
  std::filesystem::path wave_file;                 // kRtl: FST waves; empty: none
  bool activity = false;                           // kRtl: counts what switches, instead of waves
  Deadline* deadline = nullptr;                    // ends the compilation of the RTL, too
};

class ProgramEngine {
 public:
  virtual ~ProgramEngine() = default;
  // What the scratchpads keep for the next runs of a program (OverlayProgram::setup_count): the static part
  // of its memory up to its instructions; empty: nothing.
  std::vector<std::byte> prepared;
  // Of an engine with activity: the last run is logged there; null: none is.
  ActivityLog* activity = nullptr;

  // As FunctionalSimulator::run. `cycles` of the result are zero on the functional engine, of `work` the RTL
  // knows only the number of instructions. The cycle simulator reports events to `observer` (may be null).
  // Errors (infeasible): `deadline` (may be null) is over.
  virtual TimedRun run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                       CycleObserver* observer = nullptr, Deadline* deadline = nullptr) = 0;
};

// Errors: those of FunctionalSimulator, CycleSimulator, RtlSimulator.
std::unique_ptr<ProgramEngine> make_program_engine(const OverlayHardware& hardware,
                                                   const ProgramEngineOptions& options);

// As the run_overlay of program.h. `timed` may be null; its cycles are also those of the setup, where the
// engine has run another program before.
std::map<ValueId, Tensor> run_overlay(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs,
                                      ProgramEngine& engine, TimedRun* timed,
                                      CycleObserver* observer = nullptr, Deadline* deadline = nullptr);

// Adds the counters of another run.
void add(CycleCounters& total, const CycleCounters& run);

}  // namespace tilewright::overlay
