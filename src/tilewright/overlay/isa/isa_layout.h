// The position of every field of every instruction for one overlay, and the encoder and decoder that use it.
// Computing a layout costs about as much as a hundred encodes, so keep one when encoding or decoding many
// instructions.
#pragma once

#include "tilewright/overlay/isa/bit_fields.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

struct IsaLayout {
  // Errors (invalid input): fields of some instruction or of the micro-op need more bits than the encoding
  // has; the message names the scratchpad depths that cause it.
  explicit IsaLayout(const OverlayHardware& hardware);

  static constexpr int kMaxWords = 4;

  bool wide = false;
  bool has_table = false, has_rows = false;
  int words = 2;  // 64-bit words of an instruction

  BitField opcode, pop_prev, pop_next, push_prev, push_next, version;
  struct Memory {
    BitField memory_type, sram_base, dram_base, y_size, x_size, x_stride;
    BitField y_pad_0, y_pad_1, x_pad_0, x_pad_1, pad_value, form;
  };
  Memory memory;
  struct Loop {
    BitField reset, uop_begin, uop_end, iter_out, iter_in;
    BitField dst_factor_out, dst_factor_in, src_factor_out, src_factor_in, wgt_factor_out, wgt_factor_in;
  } gemm, alu;
  BitField bipolar, beside_alu;  // of GEMM
  BitField alu_opcode, use_imm, imm, clip_low, clip_high;
  struct Uop {
    BitField dst, src, wgt, overwrite;
  } uop;

  // Writes `words` 64-bit words. Errors (internal): a value does not fit its field; names field, value,
  // width.
  void encode(const MemoryInstruction& instruction, uint64_t* out) const;
  void encode(const GemmInstruction& instruction, uint64_t* out) const;
  void encode(const AluInstruction& instruction, uint64_t* out) const;
  void encode(const FinishInstruction& instruction, uint64_t* out) const;
  uint64_t encode(const MicroOp& uop) const;

  AluOpcode last_alu_opcode() const {
    if (has_rows) return AluOpcode::kRowNorm;
    return !wide ? AluOpcode::kMul : has_table ? AluOpcode::kLookup : AluOpcode::kRequantize;
  }
  MemoryType memory_type(const uint64_t* in) const {
    return MemoryType(memory.memory_type.get(in) | (has_rows ? memory.form.get(in) << 3 : 0));
  }
  bool knows(MemoryType type) const {
    if (int(type) < int(MemoryType::kTable)) return true;
    if (type == MemoryType::kTable) return has_table;
    return has_rows && (transposes(type) || type == MemoryType::kWideTable);
  }

  // Errors (invalid input): unknown opcode, version, ALU operation; unknown memory type, unless x_size is 0.
  Instruction decode(const uint64_t* words) const;
  MicroOp decode_uop(uint64_t word) const;

  // LOAD and STORE do not depend on the hardware beyond the version; form has no meaning without
  // row_functions.
  static constexpr Memory memory_fields(bool wide_version) {
    BitLayout bits;
    bits.add(wide_version ? 11 : 7);  // opcode, dependencies, version
    const int pad = wide_version ? 8 : 4, address = wide_version ? 32 : 16;
    Memory m;
    m.memory_type = bits.add(3);
    m.sram_base = bits.add(address);
    m.dram_base = bits.add(32);
    m.y_size = bits.add(16);
    m.x_size = bits.add(16);
    m.x_stride = bits.add(address);
    m.y_pad_0 = bits.add(pad);
    m.y_pad_1 = bits.add(pad);
    m.x_pad_0 = bits.add(pad);
    m.x_pad_1 = bits.add(pad);
    if (wide_version) m.pad_value = bits.add(32);
    if (wide_version) m.form = bits.add(2);
    return m;
  }

 private:
  void lay_out_gemm(BitLayout bits, int uop_log, int acc_log, int input_log, int weight_log);
  void lay_out_alu(BitLayout bits, int uop_log, int acc_log);
  void lay_out_uop(int acc_log, int input_log, int weight_log);
  void encode_common(IsaOpcode opcode, const Dependencies& dependencies, uint64_t* out) const;
  void encode_loop(const Loop& fields, bool reset, const LoopNest& loop, uint64_t* out) const;
  LoopNest decode_loop(const Loop& fields, const uint64_t* words) const;
};

// Little-endian bytes <-> words, on any host.
uint64_t read_little_endian(const std::byte* bytes, int count);
void append_little_endian(std::vector<std::byte>& out, uint64_t value, int count);

// Bytes of an element in DRAM. All are powers of two.
int64_t element_bytes(const OverlayHardware& hardware, MemoryType type);
// Entries of each table.
inline constexpr int64_t kTableEntries = 256;
// Elements of the scratchpad that it is moved to or from.
int64_t scratchpad_depth(const OverlayHardware& hardware, MemoryType type);
// All memories, and their names: "uop", "wgt", "inp", ...
inline constexpr MemoryType kMemoryTypes[] = {
    MemoryType::kUop,           MemoryType::kWeight,       MemoryType::kInput, MemoryType::kAccumulator,
    MemoryType::kOutput,        MemoryType::kAccumulator8, MemoryType::kTable, MemoryType::kWeightRows,
    MemoryType::kWeightColumns, MemoryType::kWideTable};
const char* memory_type_name(MemoryType type);
// "min", "max", "add", "shr", ...
const char* alu_opcode_name(AluOpcode opcode);

}  // namespace tilewright::overlay
