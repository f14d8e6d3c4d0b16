// Fields are placed in order; one that does not fit in the rest of the current 64-bit word starts the next.
#include "tilewright/overlay/field_positions.h"

#include <algorithm>
#include <bit>

namespace tilewright::overlay {
namespace {

class Placer {
 public:
  FieldPosition place(int width) {
    if (bit_ + width > 64) {
      ++word_;
      bit_ = 0;
    }
    const FieldPosition position{uint8_t(word_), uint8_t(bit_), uint8_t(width)};
    bit_ += width;
    return position;
  }

 private:
  int word_ = 0;
  int bit_ = 0;
};

int log2_of(int64_t depth) { return std::bit_width(uint64_t(depth)) - 1; }

}  // namespace

FieldPositions::FieldPositions(const OverlayHardware& hardware) {
  const bool wide = hardware.isa == IsaVersion::kWide;
  words = wide ? 4 : 2;
  header = wide ? uint64_t{1} << 7 : 0;
  uop_words32 = wide ? 2 : 1;
  const int common = wide ? 11 : 7;
  const int uop = log2_of(hardware.uop_depth()), acc = log2_of(hardware.accumulator_depth());
  const int inp = log2_of(hardware.input_depth()), wgt = log2_of(hardware.weight_depth());

  Placer memory;
  memory.place(common);
  memory_type = memory.place(3);
  sram_base = memory.place(wide ? 32 : 16);
  dram_base = memory.place(32);
  y_size = memory.place(16);
  x_size = memory.place(16);
  x_stride = memory.place(wide ? 32 : 16);
  const int pad = wide ? 8 : 4;
  y_pad_0 = memory.place(pad);
  y_pad_1 = memory.place(pad);
  x_pad_0 = memory.place(pad);
  x_pad_1 = memory.place(pad);
  if (wide) pad_value = memory.place(32);

  Placer gemm;
  gemm.place(common);
  const int iter = wide ? 16 : 14;
  reset = gemm.place(1);
  uop_begin = gemm.place(uop);
  uop_end = gemm.place(uop + 1);
  iter_out = gemm.place(iter);
  iter_in = gemm.place(iter);
  Placer alu = gemm;
  gemm_dst_out = gemm.place(acc);
  gemm_dst_in = gemm.place(acc);
  gemm_src_out = gemm.place(inp);
  gemm_src_in = gemm.place(inp);
  gemm_wgt_out = gemm.place(wgt);
  gemm_wgt_in = gemm.place(wgt);
  alu_dst_out = alu.place(acc);
  alu_dst_in = alu.place(acc);
  alu_src_out = alu.place(acc);
  alu_src_in = alu.place(acc);
  alu_opcode = alu.place(wide ? 4 : 3);
  use_imm = alu.place(1);
  imm = alu.place(wide ? 32 : 16);
  if (wide) {
    clip_low = alu.place(32);
    clip_high = alu.place(32);
  }

  Placer micro;
  uop_dst = micro.place(acc);
  uop_src = micro.place(std::max(acc, inp));
  uop_wgt = micro.place(wgt);
  if (wide) uop_overwrite = micro.place(1);
}

}  // namespace tilewright::overlay
