// Positions of the fields for one overlay (field tables: header of isa.h and docs/reference/isa.md).
#include "tilewright/overlay/isa/isa_layout.h"

#include <string>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

int log2_of(int64_t depth) { return depth <= 1 ? 0 : floor_log2(depth); }

void require_fit(bool fits, const std::string& what, const OverlayHardware& hardware) {
  if (fits) return;
  throw Error(ErrorKind::kInvalidInput,
              "overlay '" + hardware.name + "': " + what +
                  " does not fit its encoding (scratchpad depths: " + std::to_string(hardware.uop_depth()) +
                  " micro-ops, " + std::to_string(hardware.accumulator_depth()) + " accumulators, " +
                  std::to_string(hardware.input_depth()) + " inputs, " +
                  std::to_string(hardware.weight_depth()) + " weights)",
              "make a scratchpad smaller, a block larger, or use the wide instruction set");
}

}  // namespace

IsaLayout::IsaLayout(const OverlayHardware& hardware)
    : wide(hardware.isa == IsaVersion::kWide),
      has_table(hardware.lookup_table),
      has_rows(hardware.row_functions),
      words(wide ? 4 : 2) {
  const int uop_log = log2_of(hardware.uop_depth()), acc_log = log2_of(hardware.accumulator_depth());
  const int input_log = log2_of(hardware.input_depth()), weight_log = log2_of(hardware.weight_depth());
  for (const int log : {uop_log, acc_log, input_log, weight_log}) {
    require_fit(log <= 31, "a scratchpad of more than 2^31 elements", hardware);
  }
  BitLayout bits;
  opcode = bits.add(3);
  pop_prev = bits.add(1);
  pop_next = bits.add(1);
  push_prev = bits.add(1);
  push_next = bits.add(1);
  version = bits.add(wide ? 4 : 0);
  memory = memory_fields(wide);
  if (!has_rows) memory.form = {};
  lay_out_gemm(bits, uop_log, acc_log, input_log, weight_log);
  require_fit((wide ? beside_alu : gemm.wgt_factor_in).word < words, "GEMM", hardware);
  lay_out_alu(bits, uop_log, acc_log);
  require_fit((wide ? clip_high : imm).word < words, "ALU", hardware);
  lay_out_uop(acc_log, input_log, weight_log);
  const BitField& last = wide ? uop.overwrite : uop.wgt;
  require_fit(last.word == 0 && last.shift + last.width <= (wide ? 64 : 32), "the micro-op", hardware);
}

void IsaLayout::lay_out_gemm(BitLayout bits, int uop_log, int acc_log, int input_log, int weight_log) {
  const int iteration = wide ? 16 : 14;
  gemm.reset = bits.add(1);
  gemm.uop_begin = bits.add(uop_log);
  gemm.uop_end = bits.add(uop_log + 1);
  gemm.iter_out = bits.add(iteration);
  gemm.iter_in = bits.add(iteration);
  gemm.dst_factor_out = bits.add(acc_log);
  gemm.dst_factor_in = bits.add(acc_log);
  gemm.src_factor_out = bits.add(input_log);
  gemm.src_factor_in = bits.add(input_log);
  gemm.wgt_factor_out = bits.add(weight_log);
  gemm.wgt_factor_in = bits.add(weight_log);
  if (!wide) return;
  bipolar = bits.add(1);
  beside_alu = bits.add(1);
}

void IsaLayout::lay_out_alu(BitLayout bits, int uop_log, int acc_log) {
  const int iteration = wide ? 16 : 14;
  alu.reset = bits.add(1);
  alu.uop_begin = bits.add(uop_log);
  alu.uop_end = bits.add(uop_log + 1);
  alu.iter_out = bits.add(iteration);
  alu.iter_in = bits.add(iteration);
  alu.dst_factor_out = bits.add(acc_log);
  alu.dst_factor_in = bits.add(acc_log);
  alu.src_factor_out = bits.add(acc_log);
  alu.src_factor_in = bits.add(acc_log);
  alu_opcode = bits.add(wide ? 4 : 3);
  use_imm = bits.add(1);
  imm = bits.add(wide ? 32 : 16);
  if (wide) {
    clip_low = bits.add(32);
    clip_high = bits.add(32);
  }
}

void IsaLayout::lay_out_uop(int acc_log, int input_log, int weight_log) {
  BitLayout bits(wide ? 64 : 32);
  uop.dst = bits.add(acc_log);
  uop.src = bits.add(acc_log > input_log ? acc_log : input_log);
  uop.wgt = bits.add(weight_log);
  if (wide) uop.overwrite = bits.add(1);
}

}  // namespace tilewright::overlay
