// A second, deliberately simple execution of overlay programs: one scalar micro-op at a time, in plain loops
// written from docs/reference/isa.md, sharing nothing with the functional simulator but the instruction
// decoder. The simulator's kernels are compared with it, and its speed is the baseline for theirs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/isa/isa.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {

// Scratchpads persist between runs.
class ReferenceInterpreter {
 public:
  explicit ReferenceInterpreter(OverlayHardware hardware);

  // As FunctionalSimulator::run, with the same order of execution. Errors (invalid input): as there, in fewer
  // words.
  RunCounters run(std::span<std::byte> dram, uint64_t address, uint64_t count);

  // ACC lane `lane` (batch-major) of element `index`.
  int32_t accumulator(int64_t index, int lane) const { return accumulators_[size_t(index * lanes_ + lane)]; }

 private:
  void execute(const MemoryInstruction& instruction, std::span<std::byte> dram);
  void execute(const GemmInstruction& instruction, std::span<std::byte> dram);
  void execute(const AluInstruction& instruction, std::span<std::byte> dram);
  void execute(const FinishInstruction&, std::span<std::byte>) {}
  void load_element(const MemoryInstruction& instruction, int64_t index, std::span<const std::byte> dram,
                    int64_t dram_index);
  void pad_element(const MemoryInstruction& instruction, int64_t index);
  void load_transposed(const MemoryInstruction& instruction, std::span<const std::byte> dram);
  void execute_rows(const AluInstruction& instruction);
  void store_element(int64_t index, std::span<std::byte> dram, int64_t dram_index);
  int32_t alu_result(const AluInstruction& alu, int32_t x, int64_t source, int lane) const;

  OverlayHardware hardware_;
  IsaLayout layout_;
  int64_t lanes_;
  RunCounters counters_;
  std::vector<int8_t> inputs_, weights_;
  std::vector<int32_t> accumulators_;
  std::array<int8_t, 256> table_{};
  std::array<int32_t, 256> wide_table_{};
  std::vector<MicroOp> uops_;
};

}  // namespace tilewright::overlay
