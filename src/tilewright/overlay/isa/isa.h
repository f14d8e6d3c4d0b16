// Overlay instructions in decoded form, and their binary encodings.
//
// Plain encoding (IsaVersion::kVta): the public VTA ISA, 128-bit instructions and 32-bit micro-ops, every bit
// position computed from the hardware parameters by the C bit-field rule (fields of 64-bit type in order; a
// field that does not fit in the rest of the current word starts the next word).
//
// Wide encoding (IsaVersion::kWide): 256-bit instructions (four 64-bit words) and 64-bit micro-ops under the
// same rule. Field order and the differences (fields of the plain encoding keep their name and place in the
// order):
//   all        op[3] pop_prev pop_next push_prev push_next, version[4] (= 1)
//   LOAD/STORE memory_type[3] sram_base[32] dram_base[32] y_size[16] x_size[16] x_stride[32]
//              y_pad_0[8] y_pad_1[8] x_pad_0[8] x_pad_1[8] pad_value[32, signed] form[2]
//   GEMM       reset[1] uop_begin[U] uop_end[U+1] iter_out[16] iter_in[16] then the six factors [A A I I W W]
//              bipolar[1] beside_alu[1]
//   ALU        reset[1] uop_begin[U] uop_end[U+1] iter_out[16] iter_in[16] dst factors [A A] src factors [A
//   A]
//              alu_opcode[4] use_imm[1] imm[32, signed] clip_low[32, signed] clip_high[32, signed]
//   micro-op   dst[A] src[max(A,I)] wgt[W] overwrite[1]
// with U, A, I, W the log2 depths of the micro-op, ACC, INP and WGT scratchpads.
//
// Lanes are two's complement, but for one bit: a 1-bit weight is bipolar (bit 1 is +1, bit 0 is -1), a 1-bit
// input is bipolar in a GEMM with `bipolar`, 0 or 1 in one without. 1-bit inputs and weights exist in the
// wide encoding only.
//
// Semantics beyond the public ISA (wide only):
//   GEMM beside_alu  may run while the ALU instruction before it does, on the other half of ACC; results are
//                    those of the program's order
//   LOAD pad_value   padded INP/ACC/WGT lanes take it, instead of zero
//   micro-op overwrite  GEMM: ACC[d] = product instead of ACC[d] += product
//   ALU clip         ACC[d] = clip(ACC[d], clip_low, clip_high)
//   ALU move         ACC[d] = use_imm ? imm : ACC[s]
//   ALU mul          ACC[d] = low accumulator bits of ACC[d] * (use_imm ? imm : ACC[s])   (plain: not
//   portable) ALU requantize   ACC[d] = clip(round_shift((ACC[d] + ACC[s]) * ACC[s+1], ACC[s+2]) + imm,
//   clip_low, clip_high),
//                    per lane: bias, multiplier and shift are three consecutive ACC elements; the sum wraps
//                    to the accumulator width, the product is 64 bits wide, shift is taken modulo 64;
//                    with bits 5 and 6 of the shift set, the product is rounded twice: first to a multiple of
//                    2^31, half up, then by shift - 31, halves away from zero
//   ALU lookup       as requantize, then ACC[d] = TABLE[(ACC[d] + 128) mod 256]; hardware with lookup_table
//   ALU lookup_wide, row_max, row_divide, row_norm; LOAD of WGT by rows and columns: row_functions.h and
//                    docs/reference/isa.md; hardware with row_functions
//   ALU shr          right arithmetic by y when 0 <= y < 32, left by -y when -32 < y < 0 (immediate or
//   tensor); larger
//                    amounts behave like 31 (right) or give 0 (left)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

enum class IsaOpcode : uint8_t { kLoad = 0, kStore = 1, kGemm = 2, kFinish = 3, kAlu = 4 };
enum class MemoryType : uint8_t {
  kUop = 0,
  kWeight = 1,
  kInput = 2,
  kAccumulator = 3,
  kOutput = 4,
  kAccumulator8 = 5,
  kTable = 6,  // one byte each; hardware with lookup_table
  // Hardware with row_functions: the low three bits are memory_type, the others form.
  kWeightRows = 1 + 8,      // INP elements as rows of WGT elements
  kWideTable = 6 + 8,       // words of 32 bits
  kWeightColumns = 1 + 16,  // INP elements as columns of WGT elements
};

// Whether load executes a LOAD of it, and not compute.
constexpr bool loads_early(MemoryType type) {
  const int memory = int(type) & 7;
  return memory == int(MemoryType::kInput) || memory == int(MemoryType::kWeight);
}
// Whether INP elements become parts of WGT elements.
constexpr bool transposes(MemoryType type) {
  return type == MemoryType::kWeightRows || type == MemoryType::kWeightColumns;
}

enum class AluOpcode : uint8_t {
  kMin = 0,
  kMax = 1,
  kAdd = 2,
  kShr = 3,
  kMul = 4,
  kClip = 5,
  kMove = 6,
  kRequantize = 7,
  kLookup = 8,      // requantize, and the table
  kLookupWide = 9,  // requantize, and the table of words
  // Of a row, the parameters that requantize takes from three elements (row_functions.h).
  kRowMax = 10,
  kRowDivide = 11,
  kRowNorm = 12,
};

// The elements of ACC that a requantising step takes as parameters: bias, multiplier and shift.
inline constexpr uint32_t kParameterElements = 3;

// Whether it takes them, from ACC[s] on.
constexpr bool requantizes(AluOpcode opcode) {
  return opcode >= AluOpcode::kRequantize && opcode <= AluOpcode::kLookupWide;
}
constexpr bool looks_up(AluOpcode opcode) {
  return opcode == AluOpcode::kLookup || opcode == AluOpcode::kLookupWide;
}
constexpr bool works_on_rows(AluOpcode opcode) { return opcode >= AluOpcode::kRowMax; }

// The bits of a requantising shift that together make it round twice.
inline constexpr int32_t kRoundTwice = 96;

// Token operations. prev/next are the neighbouring modules in the order load, compute, store.
struct Dependencies {
  bool pop_prev = false, pop_next = false, push_prev = false, push_next = false;
  bool operator==(const Dependencies&) const = default;
};

// LOAD and STORE (is_store). dram_base counts elements of the memory type; see the field table of the public
// ISA.
struct MemoryInstruction {
  bool is_store = false;
  Dependencies dependencies;
  MemoryType memory_type = MemoryType::kInput;
  uint32_t sram_base = 0, dram_base = 0;
  uint32_t y_size = 0, x_size = 0, x_stride = 0;
  uint32_t y_pad_0 = 0, y_pad_1 = 0, x_pad_0 = 0, x_pad_1 = 0;
  int32_t pad_value = 0;  // wide only
  bool operator==(const MemoryInstruction&) const = default;
};

// The loop nest of GEMM and ALU: y < iter_out, x < iter_in, u in [uop_begin, uop_end).
struct LoopNest {
  uint32_t uop_begin = 0, uop_end = 0, iter_out = 1, iter_in = 1;
  uint32_t dst_factor_out = 0, dst_factor_in = 0, src_factor_out = 0, src_factor_in = 0;
  uint32_t wgt_factor_out = 0, wgt_factor_in = 0;  // GEMM only
  bool operator==(const LoopNest&) const = default;
};

struct GemmInstruction {
  Dependencies dependencies;
  bool reset = false;
  LoopNest loop;
  bool bipolar = false;     // wide only; how 1-bit inputs are read, without meaning for others
  bool beside_alu = false;  // wide only; may start while the ALU instruction before it runs
  bool operator==(const GemmInstruction&) const = default;
};

struct AluInstruction {
  Dependencies dependencies;
  bool reset = false;  // encoded, ignored by every implementation
  LoopNest loop;
  AluOpcode opcode = AluOpcode::kMin;
  bool use_imm = false;
  int32_t imm = 0;                      // 16 bits in the plain encoding
  int32_t clip_low = 0, clip_high = 0;  // wide only
  bool operator==(const AluInstruction&) const = default;
};

// Elements that a step reads from ACC[s] on, and that it may write from ACC[d] on.
constexpr uint32_t elements_read(const AluInstruction& i) {
  if (requantizes(i.opcode)) return kParameterElements;
  if (works_on_rows(i.opcode)) return 1;
  return i.use_imm || i.opcode == AluOpcode::kClip ? 0 : 1;
}
constexpr uint32_t elements_written(AluOpcode opcode) {
  return works_on_rows(opcode) ? kParameterElements : 1;
}

struct FinishInstruction {
  Dependencies dependencies;
  bool operator==(const FinishInstruction&) const = default;
};

using Instruction = std::variant<MemoryInstruction, GemmInstruction, AluInstruction, FinishInstruction>;

struct MicroOp {
  uint32_t dst = 0, src = 0, wgt = 0;
  bool overwrite = false;  // wide only, GEMM only
  bool operator==(const MicroOp&) const = default;
};

// Appends instruction_bytes() / uop_bytes() bytes, little-endian. These compute the field positions anew at
// every call; to encode or decode many, keep an IsaLayout (isa_layout.h) and use its encode and decode.
// Errors (internal): a field value does not fit its width; the message names field, value and width.
void encode(const OverlayHardware& hardware, const Instruction& instruction, std::vector<std::byte>& out);
void encode(const OverlayHardware& hardware, const MicroOp& uop, std::vector<std::byte>& out);
// Errors (invalid input): unknown opcode, version, ALU operation; unknown memory type, unless x_size is 0.
Instruction decode_instruction(const OverlayHardware& hardware, std::span<const std::byte> bytes);
MicroOp decode_uop(const OverlayHardware& hardware, std::span<const std::byte> bytes);

}  // namespace tilewright::overlay
