// Bit positions of every instruction and micro-op field for one overlay, computed once by the C bit-field
// rule (isa.h), so that the just-in-time runtime writes instruction words directly.
#pragma once

#include <cstdint>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

// A field inside the words of one instruction (or micro-op).
struct FieldPosition {
  uint8_t word = 0, shift = 0, width = 0;
};

struct FieldPositions {
  explicit FieldPositions(const OverlayHardware& hardware);

  int words = 2;          // 64-bit words of an instruction
  uint64_t header = 0;    // constant bits of word 0 (the version of the wide encoding)
  int uop_words32;        // 32-bit words of a micro-op

  // Word 0: op is bits 0..2, then pop_prev, pop_next, push_prev, push_next.
  static constexpr uint64_t kPopPrev = 1u << 3, kPopNext = 1u << 4, kPushPrev = 1u << 5, kPushNext = 1u << 6;

  // LOAD and STORE.
  FieldPosition memory_type, sram_base, dram_base, y_size, x_size, x_stride;
  FieldPosition y_pad_0, y_pad_1, x_pad_0, x_pad_1, pad_value;
  // GEMM and ALU.
  FieldPosition reset, uop_begin, uop_end, iter_out, iter_in;
  FieldPosition gemm_dst_out, gemm_dst_in, gemm_src_out, gemm_src_in, gemm_wgt_out, gemm_wgt_in;
  FieldPosition alu_dst_out, alu_dst_in, alu_src_out, alu_src_in;
  FieldPosition alu_opcode, use_imm, imm, clip_low, clip_high;
  // Micro-op.
  FieldPosition uop_dst, uop_src, uop_wgt, uop_overwrite;
};

}  // namespace tilewright::overlay
