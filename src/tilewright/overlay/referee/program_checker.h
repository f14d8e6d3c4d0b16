// The state of checker.h's check: one pass over the instructions by themselves, one in the order of the
// simulator that follows tokens, micro-ops and the last accesses to every element. Implementation of
// checker.cpp and checker_dataflow.cpp.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/overlay/execute/run_time.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/referee/hazard_tracker.h"

namespace tilewright::overlay {

Queue module_of(const Instruction& instruction);

class ProgramChecker {
 public:
  ProgramChecker(const OverlayHardware& hardware, const ProgramImage& program, Diagnostics& diagnostics,
                 Deadline* deadline)
      : hardware_(hardware),
        program_(program),
        diagnostics_(diagnostics),
        layout_(hardware),
        portable_(hardware.isa == IsaVersion::kVta),
        inputs_(hardware.input_depth(), kLoadQueue, kComputeQueue),
        weights_(hardware.weight_depth(), kLoadQueue, kComputeQueue),
        accumulators_(hardware.accumulator_depth(), kComputeQueue, kStoreQueue),
        output_valid_(size_t(hardware.accumulator_depth())),
        uops_(size_t(hardware.uop_depth())),
        uop_loaded_(size_t(hardware.uop_depth())) {
    time_.begin(deadline);
  }

  void run();

 private:
  // `kind` groups diagnostics that are counted together; it starts the message.
  void report(bool warning, const std::string& kind, const std::string& field, const std::string& detail,
              const std::string& hint);
  void error(const std::string& kind, const std::string& field, const std::string& detail = {},
             const std::string& hint = {}) {
    report(false, kind, field, detail, hint);
  }
  void warn(const std::string& kind, const std::string& field, const std::string& detail = {},
            const std::string& hint = {}) {
    report(true, kind, field, detail, hint);
  }
  void not_portable(const std::string& what, const std::string& field, const std::string& hint = {}) {
    if (portable_) warn("not portable: " + what, field, "", hint);
  }

  void read(uint64_t index, uint64_t* words) const;
  bool decode();
  void check_alone();
  void check_memory_alone(const MemoryInstruction& i);
  void check_loop_alone(const LoopNest& loop, const char* name);
  void check_alu_alone(const AluInstruction& i);
  void execute();
  void step(Queue module, const Instruction& instruction);
  void report_deadlock(const size_t (&head)[kQueues], const std::vector<uint32_t> (&queues)[kQueues]);
  void check_end();
  void follow(const MemoryInstruction& i);
  void follow_load(const MemoryInstruction& i);
  void load_uops(const MemoryInstruction& i);
  void follow_store(const MemoryInstruction& i);
  void follow(const GemmInstruction& i);
  void follow(const AluInstruction& i);
  void follow(const FinishInstruction&) {}
  bool uops_usable(const LoopNest& loop);
  unsigned bank(uint32_t element) const {
    return element < uint64_t(hardware_.accumulator_depth()) / 2 ? 1u : 2u;
  }
  bool in_range(const char* field, uint64_t last, int64_t depth);
  std::optional<DramRows> dram_rows(const MemoryInstruction& i, int64_t bytes);
  void race(const ElementTracker& tracker, bool writing, const char* memory, uint32_t element,
            std::optional<uint32_t> other);

  const OverlayHardware& hardware_;
  const ProgramImage& program_;
  Diagnostics& diagnostics_;
  const IsaLayout layout_;
  const bool portable_;
  RunTime time_;
  std::vector<Instruction> instructions_;
  uint64_t index_ = 0;
  std::map<std::string, int> reports_;
  std::map<std::string, bool> warning_kinds_;

  HappensBefore order_;
  ElementTracker inputs_, weights_, accumulators_;
  DramTracker dram_;
  std::vector<bool> output_valid_;  // a GEMM or ALU wrote it after the last load
  std::vector<MicroOp> uops_;
  std::bitset<kTableEntries> table_loaded_, wide_table_loaded_;
  std::vector<bool> uop_loaded_;
  bool alu_may_run_ = false;  // since it, compute has met nothing but GEMMs that may run beside it
  unsigned alu_banks_ = 0;    // halves of ACC that it uses, a bit each
  bool channel_full_[kChannels] = {};
};

}  // namespace tilewright::overlay
