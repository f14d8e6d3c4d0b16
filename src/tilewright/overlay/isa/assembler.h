// The text form of overlay programs. Any bytes disassemble, and the text assembles back to the same bytes.
//
//   .uops                                   ; one micro-op per line; all fields default to 0
//     dst=0 src=16 wgt=3
//   .instructions
//     load.inp sram=0 dram=64 rows=6 columns=56 stride=56 pad=1,0,1,1 pop_next push_next
//     gemm uops=0..36 loop=4,56 dst=56,1 src=58,1 pop_prev
//     alu.shr use_imm imm=8 uops=36..40 loop=4,56 dst=56,1 src=56,1
//     store.out sram=0 dram=512 rows=4 columns=224 stride=3136
//     finish
//     raw 0x0000000000000007 0x0000000000000000      ; what no instruction encodes
//
// Fields (each defaults to 0, loop to 1,1):  memory: sram dram rows columns stride pad=top,bottom,left,right
// pad_value (wide);  gemm and alu: reset uops=begin..end loop=out,in dst=out,in src=out,in wgt=out,in (gemm)
// use_imm imm clip=low,high (alu);  all: pop_prev pop_next push_prev push_next. Numbers are decimal or 0x
// hexadecimal, ';' starts a comment.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {

struct AssembledProgram {
  std::vector<std::byte> instructions, uops;
  bool operator==(const AssembledProgram&) const = default;
};

// Errors (invalid input): sizes that are not a multiple of the encoding's.
std::string disassemble(const OverlayHardware& hardware, std::span<const std::byte> instructions,
                        std::span<const std::byte> uops);
// One instruction of layout.words words, one line without its end.
std::string disassemble_instruction(const IsaLayout& layout, const uint64_t* words);

// Errors (invalid input): all problems at once, each with `source_name`:line.
AssembledProgram assemble(const OverlayHardware& hardware, const std::string& text,
                          const std::string& source_name = "assembly");

}  // namespace tilewright::overlay
