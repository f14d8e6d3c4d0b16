// Written from the rules of the page, not from what the engines look at: everything that a rule names is
// marked, the rest is free.
#include "support/overlay/dont_care_testing.h"

#include <algorithm>

#include "tilewright/overlay/execute/instruction_queues.h"

namespace tilewright::overlay {
namespace {

class Cares {
 public:
  Cares(const OverlayHardware& hardware, const IsaLayout& layout, const uint64_t* words)
      : hardware_(hardware), layout_(layout), words_(words) {
    mark({&layout.opcode, &layout.version});
    switch (IsaOpcode(get(layout.opcode))) {
      case IsaOpcode::kLoad:
        load();
        break;
      case IsaOpcode::kStore:
        store();
        break;
      case IsaOpcode::kGemm:
        gemm();
        break;
      case IsaOpcode::kAlu:
        alu();
        break;
      case IsaOpcode::kFinish:
        tokens(kComputeQueue);
        break;
    }
  }

  uint64_t word(int index) const { return mask_[index]; }
  // The type still chooses the queue of a LOAD that moves nothing.
  bool any_type_of_queue() const { return any_type_of_queue_; }

 private:
  uint64_t get(const BitField& field) const { return field.get(words_); }
  void mark(std::initializer_list<const BitField*> fields) {
    for (const BitField* field : fields) field->put(mask_, field->mask());
  }

  void tokens(Queue queue) {
    const ChannelWiring& wires = kWiring[queue];
    if (wires.pop_prev != kNoChannel) mark({&layout_.pop_prev});
    if (wires.pop_next != kNoChannel) mark({&layout_.pop_next});
    if (wires.push_prev != kNoChannel) mark({&layout_.push_prev});
    if (wires.push_next != kNoChannel) mark({&layout_.push_next});
  }

  void load() {
    const IsaLayout::Memory& m = layout_.memory;
    const MemoryType type = layout_.memory_type(words_);
    tokens(loads_early(type) ? kLoadQueue : kComputeQueue);
    mark({&m.x_size});
    any_type_of_queue_ = get(m.x_size) == 0;
    if (any_type_of_queue_) return;
    const bool pad_rows = get(m.y_pad_0) + get(m.y_pad_1) != 0, data = get(m.y_size) != 0;
    mark({&m.memory_type, &m.form, &m.y_size, &m.y_pad_0, &m.y_pad_1});
    if (!pad_rows && !data) return;
    mark({&m.sram_base, &m.x_pad_0, &m.x_pad_1});
    if (data) mark({&m.dram_base});
    if (get(m.y_size) > 1) mark({&m.x_stride});
    const bool pads = pad_rows || get(m.x_pad_0) + get(m.x_pad_1) != 0;
    if (!pads || type == MemoryType::kUop) return;
    BitField lane = m.pad_value;
    lane.width = uint8_t(std::min<int>(lane.width, type == MemoryType::kInput ? hardware_.input_bits
                                                   : loads_early(type)        ? hardware_.weight_bits
                                                                              : hardware_.accumulator_bits));
    mark({&lane});
  }

  void store() {
    const IsaLayout::Memory& m = layout_.memory;
    tokens(kStoreQueue);
    mark({&m.x_size});
    if (get(m.x_size) == 0) return;
    mark({&m.memory_type, &m.form, &m.y_size});
    if (get(m.y_size) == 0) return;
    mark({&m.sram_base, &m.dram_base});
    if (get(m.y_size) > 1) mark({&m.x_stride});
  }

  // Returns whether there is any iteration.
  bool extents(const IsaLayout::Loop& l) {
    mark({&l.uop_begin, &l.uop_end, &l.iter_out, &l.iter_in});
    return get(l.uop_begin) < get(l.uop_end) && get(l.iter_out) != 0 && get(l.iter_in) != 0;
  }
  // The factors of a loop of one iteration are never added.
  void factors(const IsaLayout::Loop& l, const BitField& out, const BitField& in) {
    if (get(l.iter_out) > 1) mark({&out});
    if (get(l.iter_in) > 1) mark({&in});
  }

  void gemm() {
    const IsaLayout::Loop& l = layout_.gemm;
    tokens(kComputeQueue);
    if (hardware_.gemm_beside_alu) mark({&layout_.beside_alu});
    if (!extents(l)) return;
    mark({&l.reset});
    factors(l, l.dst_factor_out, l.dst_factor_in);
    if (get(l.reset) != 0) return;
    factors(l, l.src_factor_out, l.src_factor_in);
    factors(l, l.wgt_factor_out, l.wgt_factor_in);
    if (hardware_.input_bits == 1) mark({&layout_.bipolar});
  }

  void alu() {
    const IsaLayout::Loop& l = layout_.alu;
    const AluOpcode opcode = AluOpcode(get(layout_.alu_opcode));
    const bool clip = opcode == AluOpcode::kClip, requantize = requantizes(opcode);
    if (works_on_rows(opcode)) return rows(opcode);
    tokens(kComputeQueue);
    mark({&layout_.alu_opcode});
    if (!extents(l)) return;
    factors(l, l.dst_factor_out, l.dst_factor_in);
    if (!clip && !requantize) mark({&layout_.use_imm});
    const bool immediate = !clip && get(layout_.use_imm) != 0;
    if (requantize || (!clip && !immediate)) factors(l, l.src_factor_out, l.src_factor_in);
    if (requantize || immediate) mark({&layout_.imm});
    if (requantize || clip) mark({&layout_.clip_low, &layout_.clip_high});
  }

  // Of the immediate the lanes, the shift, or the fraction and whether the mean is subtracted.
  void rows(AluOpcode opcode) {
    const IsaLayout::Loop& l = layout_.alu;
    tokens(kComputeQueue);
    mark({&layout_.alu_opcode});
    if (!extents(l)) return;
    factors(l, l.dst_factor_out, l.dst_factor_in);
    factors(l, l.src_factor_out, l.src_factor_in);
    BitField imm = layout_.imm;
    imm.width = opcode == AluOpcode::kRowMax ? 16 : opcode == AluOpcode::kRowDivide ? 22 : 21;
    mark({&imm});
    if (opcode != AluOpcode::kRowMax) mark({&layout_.clip_low, &layout_.clip_high});
  }

  const OverlayHardware& hardware_;
  const IsaLayout& layout_;
  const uint64_t* words_;
  uint64_t mask_[IsaLayout::kMaxWords] = {};
  bool any_type_of_queue_ = false;
};

}  // namespace

void randomise_dont_cares(const OverlayHardware& hardware, const IsaLayout& layout, Random& random,
                          uint64_t* words) {
  const Cares cares(hardware, layout, words);
  const BitField& type = layout.memory.memory_type;
  const bool early = loads_early(MemoryType(type.get(words)));
  for (int w = 0; w < layout.words; ++w)
    words[w] = (words[w] & cares.word(w)) | (random.next() & ~cares.word(w));
  if (!cares.any_type_of_queue()) return;
  while (loads_early(MemoryType(type.get(words))) != early) {
    words[type.word] &= ~(type.mask() << type.shift);
    type.put(words, random.next());
  }
}

}  // namespace tilewright::overlay
