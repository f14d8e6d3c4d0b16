// Memories follow rtl/overlay: tw_overlay_scratchpad.sv cuts an element into slices of the port's width,
// tw_overlay_register_file.sv keeps every accumulator twice and mirrors its output bits, queues are
// tw_overlay_sync_fifo.sv. Bits of instructions that compute never looks at are no part of its queue: Yosys
// drops them.
#include "tilewright/overlay/implement/overlay_area.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/implement/area_coefficients.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kTableWords = 32;  // memories of at most so many words are look-up tables

int64_t lanes_of(const OverlayHardware& h) { return int64_t{h.batch} * h.block_out; }
int64_t alu_lanes_of(const OverlayHardware& h) { return h.alu_lanes == 0 ? lanes_of(h) : h.alu_lanes; }
int64_t operand_bits_of(const OverlayHardware& h) { return std::max(h.input_bits, h.weight_bits); }

AreaMemory scratchpad(int64_t words, int64_t element_bits, int64_t port) {
  const int64_t slice = std::min(element_bits, port);
  return {words, slice, element_bits / slice};
}

// Lanes of an accumulator that are always written together.
int64_t part_lanes(const OverlayHardware& h) {
  const int64_t beat = std::max<int64_t>(1, h.memory_width_bits / h.accumulator_bits);
  return std::min({alu_lanes_of(h), beat, lanes_of(h)});
}

// Width of the queue of load (with pads) or store, as tw_overlay_memory_queue.sv keeps it.
int64_t queue_width(const OverlayHardware& h, const IsaLayout::Memory& fields, int log_sram, bool pads) {
  const int address = address_bits(h);
  const int index = std::min(32, address - floor_log2(h.instruction_bytes()) + 1);
  const int sram = std::min(int(fields.sram_base.width), log_sram + 1), dram = std::min(32, address + 1);
  const int size = std::min(16, log_sram + 2), stride = std::min(int(fields.x_stride.width), address + 1);
  const int box = pads ? 4 * int(fields.y_pad_0.width) + int(fields.pad_value.width) : 0;
  return sram + dram + 2 * size + stride + box + 3 + 4 + index;
}

// Bits of an instruction that some module looks at.
int64_t instruction_bits(const IsaLayout& layout) {
  uint64_t used[IsaLayout::kMaxWords] = {};
  const auto mark = [&](std::initializer_list<BitField> fields) {
    for (const BitField& field : fields) field.put(used, ~uint64_t{0});
  };
  const IsaLayout::Memory& m = layout.memory;
  mark({layout.opcode, layout.pop_prev, layout.pop_next, layout.push_prev, layout.push_next, layout.version});
  mark({m.memory_type, m.sram_base, m.dram_base, m.y_size, m.x_size, m.x_stride, m.y_pad_0, m.y_pad_1,
        m.x_pad_0, m.x_pad_1, m.pad_value});
  for (const IsaLayout::Loop& loop : {layout.gemm, layout.alu}) {
    mark({loop.reset, loop.uop_begin, loop.uop_end, loop.iter_out, loop.iter_in, loop.dst_factor_out,
          loop.dst_factor_in, loop.src_factor_out, loop.src_factor_in, loop.wgt_factor_out,
          loop.wgt_factor_in});
  }
  mark({layout.bipolar, layout.beside_alu, layout.alu_opcode, layout.use_imm, layout.imm, layout.clip_low,
        layout.clip_high});
  int64_t bits = 0;
  for (const uint64_t word : used) bits += std::popcount(word);
  return bits;
}

}  // namespace

std::vector<AreaMemory> area_memories(const OverlayHardware& h) {
  const IsaLayout layout(h);
  const int64_t port = h.memory_width_bits, banks = h.gemm_beside_alu ? 2 : 1;
  const IsaLayout::Uop& uop = layout.uop;
  const int64_t uop_bits = uop.dst.width + uop.src.width + uop.wgt.width + uop.overwrite.width;
  std::vector<AreaMemory> memories;
  memories.push_back(scratchpad(h.uop_depth(), std::min(uop_bits, int64_t{8} * h.uop_bytes()), port));
  memories.push_back(scratchpad(h.input_depth(), 8 * h.input_bytes(), port));
  memories.push_back(scratchpad(h.weight_depth(), 8 * h.weight_bytes(), port));
  const int64_t depth = h.accumulator_depth() / banks, part = part_lanes(h), parts = lanes_of(h) / part;
  memories.push_back({depth, part * h.accumulator_bits, 2 * banks * parts});
  memories.push_back({depth, part * h.output_bits, banks * parts});
  memories.push_back({h.read_queue_beats, port + 2, 3});
  const int loaded = floor_log2(std::max(h.input_depth(), h.weight_depth()));
  memories.push_back({h.command_queue_depth, queue_width(h, layout.memory, loaded, true), 1});
  memories.push_back(
      {h.command_queue_depth, queue_width(h, layout.memory, floor_log2(h.accumulator_depth()), false), 1});
  const int index = std::min(32, address_bits(h) - floor_log2(h.instruction_bytes()) + 1);
  memories.push_back({h.command_queue_depth, instruction_bits(layout) + index, 1});
  return memories;
}

const std::vector<const char*>& area_feature_names() {
  static const std::vector<const char*> names = {"products of 8 bits",
                                                 "products of 4 bits",
                                                 "products of 2 bits",
                                                 "products of 1 bit",
                                                 "sums of a core",
                                                 "operand bits",
                                                 "overlay",
                                                 "accumulator lanes",
                                                 "ALU lanes",
                                                 "forwarding lanes",
                                                 "lanes of slices",
                                                 "port bits",
                                                 "memory tables",
                                                 "memory ranges"};
  return names;
}

std::string area_model_digest(const AreaCoefficients& weights) {
  std::string text;
  for (const char* name : area_feature_names()) text += fmt::format("{}\n", name);
  for (const double weight : weights.lut) text += fmt::format("lut {}\n", weight);
  for (const double weight : weights.ff) text += fmt::format("ff {}\n", weight);
  return fmt::format("{:016x}", fnv1a(text));
}

std::vector<double> core_area_features(const OverlayHardware& h) {
  std::vector<double> features(area_feature_names().size(), 0.0);
  const int64_t bits = operand_bits_of(h);
  features[bits == 8 ? 0 : bits == 4 ? 1 : bits == 2 ? 2 : 3] = double(h.macs_per_uop());
  features[4] = double(lanes_of(h));
  const bool registered = h.macs_per_uop() > 32;
  // Multiplier blocks have registers of their own.
  if (registered && bits < 8) features[5] = 8 * double(h.input_bytes() + h.weight_bytes());
  return features;
}

std::vector<double> area_features(const OverlayHardware& h) {
  std::vector<double> features = core_area_features(h);
  const auto lanes = double(lanes_of(h)), alu = double(alu_lanes_of(h));
  const double banks = h.gemm_beside_alu ? 2 : 1;
  features[6] = 1;
  features[7] = lanes * banks;
  features[8] = alu;
  features[9] = alu == lanes ? lanes * banks : 0;
  features[10] = alu < lanes ? lanes : 0;
  features[11] = h.memory_width_bits;
  for (const AreaMemory& memory : area_memories(h)) {
    if (memory.words <= kTableWords) {
      features[12] += double(memory.count *
                             synthesis::lut_rams(memory.words, memory.width, synthesis::DeviceFamily::kXc7));
    } else {
      const int64_t rows = synthesis::block_ram_rows(memory.words, memory.width);
      features[13] += double(memory.count * memory.width * (rows - 1));
    }
  }
  return features;
}

synthesis::Resources overlay_blocks(const OverlayHardware& h) {
  synthesis::Resources area;
  // A lane's 32-bit product is two of 17 x 32 bits, two blocks each.
  area.dsp = (operand_bits_of(h) == 8 ? h.macs_per_uop() : 0) + 4 * alu_lanes_of(h);
  for (const AreaMemory& memory : area_memories(h)) {
    if (memory.words > kTableWords)
      area.bram += memory.count * synthesis::block_rams(memory.words, memory.width);
  }
  return area;
}

synthesis::Resources overlay_area(const OverlayHardware& h) {
  const std::vector<double> features = area_features(h);
  const AreaCoefficients& weights = area_coefficients();
  TILEWRIGHT_CHECK(features.size() == weights.lut.size() && features.size() == weights.ff.size(),
                   "an area model with a weight missing");
  synthesis::Resources area = overlay_blocks(h);
  area.lut = std::llround(std::inner_product(features.begin(), features.end(), weights.lut.begin(), 0.0));
  area.ff = std::llround(std::inner_product(features.begin(), features.end(), weights.ff.begin(), 0.0));
  return area;
}

}  // namespace tilewright::overlay
