// Executes single overlay instructions on the scratchpads and the simulated DRAM, without order or time:
// shared by the functional and the cycle simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/execute/kernel_set.h"
#include "tilewright/overlay/execute/run_time.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/isa/uop_plan.h"

namespace tilewright::overlay {

// Throws the error (invalid input) of one instruction; `name`: of its operation, may be empty.
[[noreturn]] void fail_instruction(uint32_t index, const std::string& name, const std::string& message,
                                   const std::string& hint = {});

struct InstructionExecutor {
  // Errors: kernels that this CPU does not have (unsupported); hardware without a simulator (invalid input).
  InstructionExecutor(OverlayHardware description, SimulatorKernel kernel);

  const OverlayHardware hardware;
  const IsaLayout layout;
  const KernelSet& kernels;
  Scratchpads pads;
  UopPlanCache plans;
  const size_t words;  // 64-bit words of an instruction

  // Of the current run.
  std::span<std::byte> dram;
  uint64_t stream_begin = 0, stream_end = 0;  // bytes of the program
  RunCounters counters;

  // A new run of `count` instructions from byte `address` on. Errors (invalid input): those of verify_place.
  // The deadline may be null; the executing loop checks `time` before every instruction.
  void begin(std::span<std::byte> memory, uint64_t address, uint64_t count, Deadline* deadline = nullptr);
  RunTime time;
  // The bytes of instruction `index`.
  const std::byte* at(uint32_t index) const { return dram.data() + stream_begin + index * words * 8; }
  // Words of instruction `index` in `buffer`, of IsaLayout::kMaxWords; returns it.
  const uint64_t* read(uint32_t index, uint64_t* buffer) const {
    // Two fixed sizes, because a copy of unknown size is a call.
    if (words == 2) {
      std::memcpy(buffer, at(index), 16);
    } else {
      std::memcpy(buffer, at(index), 32);
    }
    return buffer;
  }
  // With `effects` unset only micro-ops are loaded: ranges are checked and work is counted, data stays as it
  // is.
  bool effects = true;
  MemoryInstruction decode_memory(const uint64_t* in) const;  // without its dependencies
  // Sizes of the loop nest, without its factors; and the factors.
  LoopNest decode_extents(const IsaLayout::Loop& fields, const uint64_t* in) const;
  void decode_factors(const IsaLayout::Loop& fields, const uint64_t* in, LoopNest& loop) const;
  // `in`: the words of instruction `index`, of a known opcode. Errors (invalid input): ranges, unknown ALU
  // operations; nothing has been touched then.
  void execute_memory(uint32_t index, const MemoryInstruction& i);
  void execute_gemm(uint32_t index, const uint64_t* in) {
    if (!single_gemm(in)) execute_gemm_loops(index, in);
  }
  void execute_alu(uint32_t index, const uint64_t* in);
  // Whether this GEMM may start while an ALU instruction runs. If it follows one with nothing but such GEMMs
  // between, execute_gemm demands that the two use different halves of ACC.
  bool runs_beside_alu(const uint64_t* in) const {
    return hardware.gemm_beside_alu && layout.beside_alu.get(in) != 0;
  }
  // Executes a LOAD of one unpadded row of inputs in range. Returns false for everything else, untouched.
  template <bool kWide>
  bool load_input_row(const uint64_t* in);

 private:
  template <typename Run>
  void in_pieces(const LoopNest& loop, const Run& run);
  void gemm_in_order(const LoopNest& loop);
  void run_alu(const MicroOp* uops, const AluInstruction& alu);
  void run_rows(const AluInstruction& alu);
  bool single_gemm(const uint64_t* in);
  void execute_gemm_loops(uint32_t index, const uint64_t* in);
  void load(uint32_t index, const MemoryInstruction& i);
  void store(uint32_t index, const MemoryInstruction& i);
  void check_dram(uint32_t index, const MemoryInstruction& i, int64_t element_bytes, const char* name) const;
  void load_row(const MemoryInstruction& i, uint32_t target, const std::byte* source, size_t count);
  void load_transposed(const MemoryInstruction& i, const std::byte* source);
  void set_weight(uint32_t index, const int8_t* lanes);
  void fill(const MemoryInstruction& i, uint32_t target, uint64_t count);
  void check_uop_range(uint32_t index, const char* name, const LoopNest& loop) const;
  void check_banks(uint32_t index, uint64_t low, uint64_t high) const;
  unsigned banks(uint64_t low, uint64_t high) const;

  bool alu_may_run_ = false;      // since it, compute has executed nothing but GEMMs that run beside it
  unsigned alu_banks_ = 0;        // halves of ACC that it uses, a bit each
  std::vector<int8_t> unpacked_;  // lanes of one weight element
  uint64_t input_bytes_ = 0, dram_inputs_ = 0;  // bytes of an input element, whole ones in the memory
};

// Executes a GEMM of one micro-op and one iteration in range. Returns false for everything else, untouched.
inline bool InstructionExecutor::single_gemm(const uint64_t* in) {
  const uint64_t uop = layout.gemm.uop_begin.get(in);
  if (layout.gemm.uop_end.get(in) != uop + 1 || layout.gemm.iter_out.get(in) != 1 ||
      layout.gemm.iter_in.get(in) != 1 || layout.gemm.reset.get(in) != 0) {
    return false;
  }
  if (uop >= uint64_t(pads.uop_depth) || alu_may_run_ || pads.input_bits == 1) return false;
  const MicroOp& op = pads.uops[uop];
  if (op.dst >= uint64_t(pads.accumulator_depth) || op.src >= uint64_t(pads.input_depth) ||
      op.wgt >= uint64_t(pads.weight_depth)) {
    return false;
  }
  ++counters.gemm_uops;
  if (effects) kernels.gemm_one(pads, op.dst, op.src, op.wgt, op.overwrite);
  return true;
}

template <bool kWide>
inline bool InstructionExecutor::load_input_row(const uint64_t* in) {
  constexpr IsaLayout::Memory kFields = IsaLayout::memory_fields(kWide);
  static_assert(kFields.y_pad_0.shift == (kWide ? 32 : 48) && kFields.x_pad_1.word == kFields.y_pad_0.word,
                "the four pads fill the top of one word");
  if (in[kFields.y_pad_0.word] >> kFields.y_pad_0.shift != 0 || kFields.y_size.get(in) != 1) return false;
  if (layout.memory_type(in) != MemoryType::kInput) return false;
  const uint64_t x = kFields.x_size.get(in), from = kFields.dram_base.get(in), to = kFields.sram_base.get(in);
  if (x == 0 || to + x > uint64_t(pads.input_depth) || from + x > dram_inputs_) return false;
  counters.input_load_bytes += x * input_bytes_;
  load_inputs(kernels, pads, uint32_t(to), dram.data() + from * input_bytes_, x);
  return true;
}

}  // namespace tilewright::overlay
