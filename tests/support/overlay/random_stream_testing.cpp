// Draws instructions, says which elements each one reads and writes, and leaves the tokens to TokenPlacement.
// Micro-ops are followed through their loads, so that the indices of every step are known.
#include "support/overlay/random_stream_testing.h"

#include <algorithm>
#include <cstring>

#include "support/overlay/token_placement_testing.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

constexpr uint32_t kStreamUops = 64;       // stand at the start of the memory, then one that is zero
constexpr int64_t kDataBytes = 1 << 17;    // random data; never written
constexpr int64_t kStoredBytes = 1 << 13;  // where stores go; loads read it too
constexpr int64_t kMostSteps = 400;        // of one GEMM or ALU

using Touched = TokenPlacement::Touched;
using Accesses = TokenPlacement::Accesses;
using Part = TokenPlacement::Part;

class StreamGenerator {
 public:
  StreamGenerator(const OverlayHardware& hardware, Random& random)
      : hardware_(hardware),
        layout_(hardware),
        random_(random),
        stream_(random),
        inputs_(size_t(hardware.input_depth())),
        weights_(size_t(hardware.weight_depth())),
        accumulators_(size_t(hardware.accumulator_depth())),
        table_(size_t(kTableEntries)),
        wide_table_(size_t(kTableEntries)),
        stored_(size_t(kStoredBytes)),
        uops_(size_t(hardware.uop_depth())) {}

  RandomProgram generate(int length) {
    program_.dram.resize(size_t(kDataBytes + kStoredBytes));
    for (std::byte& byte : program_.dram) byte = std::byte(random_.next());
    write_uops();
    load(MemoryType::kUop, 0, 0, kStreamUops);
    if (hardware_.lookup_table) load(MemoryType::kTable, 0, 0, kTableEntries);
    if (hardware_.row_functions) load(MemoryType::kWideTable, 0, 0, kTableEntries);
    for (int i = 0; i < length; ++i) random_instruction();
    expose_accumulators();
    stream_.finish();
    append_code();
    return std::move(program_);
  }

 private:
  int64_t at_most(int64_t high) { return random_.between(0, std::max<int64_t>(high, 0)); }
  bool wide() const { return hardware_.isa == IsaVersion::kWide; }

  // Some destinations repeat, which makes reductions; most of the others lie in the lower half.
  void write_uops() {
    const int64_t acc = hardware_.accumulator_depth(), both = std::min(hardware_.input_depth(), acc);
    const auto index = [&](int64_t depth) {
      return uint32_t(random_.chance(0.3) ? random_.between(depth / 2, depth - 3) : at_most(depth / 2 - 1));
    };
    std::vector<std::byte> bytes;
    for (uint32_t u = 0; u < kStreamUops; ++u) {
      MicroOp op;
      op.dst = random_.chance(0.4) ? uint32_t(at_most(3)) : index(acc);
      op.src = random_.chance(0.2) ? uint32_t(at_most(1)) : index(both);
      op.wgt = uint32_t(at_most(hardware_.weight_depth() / 2 - 1));
      op.overwrite = wide() && random_.chance(0.2);
      encode(hardware_, op, bytes);
    }
    encode(hardware_, MicroOp{}, bytes);
    std::copy(bytes.begin(), bytes.end(), program_.dram.begin());
  }

  // ---- loads and stores ----
  std::vector<Touched>& scratchpad(MemoryType type) {
    if (type == MemoryType::kTable) return table_;
    if (type == MemoryType::kWideTable) return wide_table_;
    return type == MemoryType::kInput ? inputs_ : loads_early(type) ? weights_ : accumulators_;
  }

  void touch_dram(const MemoryInstruction& i, int64_t bytes, std::vector<Touched*>& touched) {
    for (uint32_t y = 0; y < i.y_size; ++y) {
      const int64_t first = (int64_t{i.dram_base} + int64_t{y} * i.x_stride) * bytes - kDataBytes;
      for (int64_t b = std::max<int64_t>(first, 0); b < first + i.x_size * bytes; ++b) {
        touched.push_back(&stored_[size_t(b)]);
      }
    }
  }

  void emit_load(const MemoryInstruction& i) {
    const Part part = loads_early(i.memory_type) ? Part::kLoad : Part::kCompute;
    Accesses accesses;
    if (i.x_size > 0) {
      touch_dram(i, element_bytes(hardware_, i.memory_type), accesses.reads);
      const uint32_t row = i.x_pad_0 + i.x_size + i.x_pad_1;
      const uint32_t count = written_rows(i) * row;
      for (uint32_t e = 0; e < count; ++e) {
        if (i.memory_type == MemoryType::kUop) {
          load_uop(i, e, row);
        } else {
          accesses.writes.push_back(&scratchpad(i.memory_type)[i.sram_base + e]);
        }
      }
    }
    stream_.append(part, i, accesses);
  }

  // Of the padded box, in elements of the scratchpad.
  uint32_t written_rows(const MemoryInstruction& i) const {
    const uint32_t rows = i.y_pad_0 + i.y_size + i.y_pad_1;
    return transposes(i.memory_type) ? ceil_div(rows, uint32_t(hardware_.block_in)) : rows;
  }

  // Element e of the padded box.
  void load_uop(const MemoryInstruction& i, uint32_t e, uint32_t row) {
    const uint32_t y = e / row - i.y_pad_0, x = e % row - i.x_pad_0;  // wraps where padded
    MicroOp op;
    if (y < i.y_size && x < i.x_size) {
      uint64_t word = 0;
      const size_t bytes = size_t(hardware_.uop_bytes());
      std::memcpy(&word, program_.dram.data() + (i.dram_base + size_t{y} * i.x_stride + x) * bytes, bytes);
      op = layout_.decode_uop(word);
    }
    uops_[i.sram_base + e] = op;
  }

  void load(MemoryType type, uint32_t dram, uint32_t sram, uint32_t count) {
    MemoryInstruction i;
    i.memory_type = type;
    i.dram_base = dram;
    i.sram_base = sram;
    i.y_size = 1;
    i.x_size = i.x_stride = count;
    emit_load(i);
  }

  void random_load(MemoryType type) {
    const bool uop = type == MemoryType::kUop;
    const int64_t bytes = element_bytes(hardware_, type), all = scratchpad_depth(hardware_, type);
    const int64_t depth = uop ? std::min<int64_t>(all, kStreamUops) : all;
    MemoryInstruction i;
    i.memory_type = type;
    const int64_t budget = std::min<int64_t>(depth, 200);
    if (random_.chance(uop ? 0.2 : 0.5)) {
      i.y_pad_0 = uint32_t(at_most(2)), i.y_pad_1 = uint32_t(at_most(2));
      i.x_pad_0 = uint32_t(at_most(3)), i.x_pad_1 = uint32_t(at_most(3));
      if (wide()) i.pad_value = int32_t(random_.next());
    }
    const int64_t most = random_.chance(0.2) ? budget / 2 : std::min<int64_t>(budget / 8, 20);
    i.x_size = uint32_t(at_most(most));
    const int64_t row = i.x_pad_0 + i.x_size + i.x_pad_1;
    const int64_t rows = row == 0 ? 0 : budget / row - i.y_pad_0 - i.y_pad_1;
    if (rows < 0) return;
    i.y_size = uint32_t(at_most(std::min<int64_t>(rows, 6) * (transposes(type) ? 5 : 1)));
    const int64_t total = written_rows(i) * row;
    if (total > depth) return;
    i.x_stride = uint32_t(random_.chance(0.1) ? at_most(i.x_size) : i.x_size + at_most(5));
    i.sram_base = uint32_t(at_most(depth - total));
    const int64_t span = int64_t{i.y_size} * i.x_stride + i.x_size;
    const int64_t source = uop ? kStreamUops : (kDataBytes + kStoredBytes) / bytes;
    if (span > source) return;
    const bool stored = !uop && random_.chance(0.3);  // near what was stored
    i.dram_base = uint32_t(stored ? source - span - at_most(std::min(source - span, kStoredBytes / bytes))
                                  : at_most(source - span));
    emit_load(i);
  }

  void emit_store(const MemoryInstruction& i) {
    Accesses accesses;
    const int64_t bytes = hardware_.output_bytes();
    if (int64_t{i.dram_base} * bytes < kDataBytes + kStoredBytes) touch_dram(i, bytes, accesses.writes);
    for (uint32_t e = 0; e < i.y_size * i.x_size; ++e)
      accesses.reads.push_back(&accumulators_[i.sram_base + e]);
    stream_.append(Part::kStore, i, accesses);
  }

  void random_store() {
    const int64_t bytes = hardware_.output_bytes(), room = kStoredBytes / bytes;
    MemoryInstruction i;
    i.is_store = true;
    i.memory_type = MemoryType::kOutput;
    i.x_size = uint32_t(at_most(std::min<int64_t>(random_.chance(0.2) ? 60 : 10, room / 8)));
    i.y_size =
        uint32_t(at_most(std::min<int64_t>(4, hardware_.accumulator_depth() / std::max(1u, i.x_size))));
    i.x_stride = uint32_t(i.x_size + at_most(3));
    i.sram_base = uint32_t(at_most(hardware_.accumulator_depth() - int64_t{i.x_size} * i.y_size));
    const int64_t span = int64_t{i.y_size} * i.x_stride + i.x_size;
    if (span > room) return;
    i.dram_base = uint32_t(kDataBytes / bytes + at_most(room - span));
    emit_store(i);
  }

  // ---- compute ----
  LoopNest random_loop(bool gemm) {
    LoopNest l = random_iterations(random_, kStreamUops);
    if (random_.chance(0.2)) l.uop_end = l.uop_begin + 1, l.iter_in = l.iter_out = 1;
    while (int64_t{l.uop_end - l.uop_begin} * l.iter_in * l.iter_out > kMostSteps) {
      l.uop_end = (l.uop_begin + l.uop_end + 1) / 2;
      l.iter_in = (l.iter_in + 1) / 2;
    }
    // What the largest indices leave; requantize reads two elements after src.
    MicroOp largest;
    for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
      largest.dst = std::max(largest.dst, uops_[u].dst);
      largest.src = std::max(largest.src, uops_[u].src);
      largest.wgt = std::max(largest.wgt, uops_[u].wgt);
    }
    const int64_t source = gemm ? hardware_.input_depth() - 1 : hardware_.accumulator_depth() - 3;
    // An operation on rows writes two elements after dst.
    random_factors(random_, hardware_.accumulator_depth() - 3 - largest.dst, l, l.dst_factor_out,
                   l.dst_factor_in);
    random_factors(random_, source - largest.src, l, l.src_factor_out, l.src_factor_in);
    if (gemm && random_.chance(0.4)) {
      random_factors(random_, hardware_.weight_depth() - 1 - largest.wgt, l, l.wgt_factor_out,
                     l.wgt_factor_in);
    }
    return l;
  }

  // Calls visit(dst, src, wgt) for every step.
  template <typename Visit>
  void for_each_step(const LoopNest& l, const Visit& visit) const {
    for (uint32_t y = 0; y < l.iter_out; ++y) {
      for (uint32_t x = 0; x < l.iter_in; ++x) {
        for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
          const MicroOp& op = uops_[u];
          visit(op.dst + y * l.dst_factor_out + x * l.dst_factor_in,
                op.src + y * l.src_factor_out + x * l.src_factor_in,
                op.wgt + y * l.wgt_factor_out + x * l.wgt_factor_in);
        }
      }
    }
  }

  // Which halves of ACC an instruction touches, as bits; the steps read `sources` elements from src on and
  // write `targets`.
  int halves(const LoopNest& loop, uint32_t sources, uint32_t targets = 1) const {
    int touched = 0;
    const uint32_t half = uint32_t(hardware_.accumulator_depth() / 2);
    for_each_step(loop, [&](uint32_t dst, uint32_t src, uint32_t) {
      for (uint32_t k = 0; k < targets; ++k) touched |= 1 << (dst + k >= half);
      for (uint32_t k = 0; k < sources; ++k) touched |= 1 << (src + k >= half);
    });
    return touched;
  }

  // Those of the ALU instruction that the next GEMM might run beside.
  int open_halves() const { return alu_last_ == stream_.last(Part::kCompute) ? alu_halves_ : 0; }

  void random_gemm() {
    GemmInstruction i;
    i.loop = random_loop(true);
    if (wide() && random_.chance(0.7)) {
      // Beside the ALU instruction before it, if they have no half of ACC in common.
      for (int attempt = 0; attempt < 20 && (halves(i.loop, 0) & open_halves()) != 0; ++attempt) {
        i.loop = random_loop(true);
      }
      i.beside_alu = (halves(i.loop, 0) & open_halves()) == 0;
    }
    i.reset = random_.chance(0.1);
    if (wide() && hardware_.input_bits == 1) i.bipolar = random_.chance(0.5);
    Accesses accesses;
    for_each_step(i.loop, [&](uint32_t dst, uint32_t src, uint32_t wgt) {
      accesses.writes.push_back(&accumulators_[dst]);
      if (i.reset) return;
      accesses.reads.push_back(&inputs_[src]);
      accesses.reads.push_back(&weights_[wgt]);
    });
    const int open = open_halves();
    stream_.append(Part::kCompute, i, accesses);
    if (i.beside_alu && open != 0) alu_last_ = stream_.last(Part::kCompute);
  }

  void random_alu() {
    AluInstruction i;
    i.loop = random_loop(false);
    i.opcode = AluOpcode(random_.between(0, last_operation(hardware_)));
    if (wide() && random_.chance(0.2)) i.opcode = AluOpcode::kRequantize;
    i.use_imm = random_.chance(0.5);
    const int64_t imm = random_.chance(0.5) ? random_.between(-40, 40) : random_.between(-32768, 32767);
    i.imm = wide() && random_.chance(0.3) ? int32_t(random_.next()) : int32_t(imm);
    if (wide()) {
      i.clip_low = random_.chance(0.7) ? -128 : int32_t(random_.next() >> 33);
      const int64_t range = random_.chance(0.5) ? 255 : at_most(INT32_MAX);
      i.clip_high = int32_t(std::min<int64_t>(i.clip_low + range, INT32_MAX));
    }
    if (works_on_rows(i.opcode)) {
      i.imm = random_row_immediate(hardware_, random_);
      if (random_.chance(0.5)) i.clip_high = int32_t(at_most(1 << 24));
    }
    // Often in one half of ACC, so that a GEMM can run beside it.
    const uint32_t targets = elements_written(i.opcode);
    for (int attempt = 0; attempt < 10 && wide() && halves(i.loop, elements_read(i), targets) == 3;
         ++attempt) {
      i.loop = random_loop(false);
    }
    emit_alu(i);
  }

  void emit_alu(const AluInstruction& i) {
    const uint32_t sources = elements_read(i), targets = elements_written(i.opcode);
    Accesses accesses;
    for_each_step(i.loop, [&](uint32_t dst, uint32_t src, uint32_t) {
      for (uint32_t k = 0; k < targets; ++k) accesses.writes.push_back(&accumulators_[dst + k]);
      for (uint32_t k = 0; k < sources; ++k) accesses.reads.push_back(&accumulators_[src + k]);
    });
    stream_.append(Part::kCompute, i, accesses);
    alu_halves_ = halves(i.loop, sources, targets);
    alu_last_ = stream_.last(Part::kCompute);
  }

  void random_instruction() {
    static constexpr MemoryType kTypes[] = {
        MemoryType::kInput,       MemoryType::kInput,        MemoryType::kWeight,       MemoryType::kWeight,
        MemoryType::kAccumulator, MemoryType::kAccumulator8, MemoryType::kUop,          MemoryType::kTable,
        MemoryType::kWideTable,   MemoryType::kWeightRows,   MemoryType::kWeightColumns};
    if (wide() && open_halves() != 0 && random_.chance(0.6)) return random_gemm();
    const int64_t kind = random_.between(0, 9);
    if (kind < 4)
      return random_load(kTypes[random_.between(0, hardware_.row_functions  ? 10
                                                   : hardware_.lookup_table ? 7
                                                                            : 6)]);
    if (kind < 6) return random_gemm();
    if (kind < 8) return random_alu();
    random_store();
  }

  // ---- the end ----
  // Stores the low bits of all accumulators, shifts them out, until none are left.
  void expose_accumulators() {
    load(MemoryType::kUop, kStreamUops, 0, 1);
    const int64_t depth = hardware_.accumulator_depth(), bytes = hardware_.output_bytes();
    const uint32_t rows = uint32_t((depth + 255) / 256), row = uint32_t(depth / rows);
    program_.dram.resize((program_.dram.size() + 255) / 256 * 256);
    for (int bit = 0; bit < hardware_.accumulator_bits; bit += hardware_.output_bits) {
      AluInstruction shift;
      shift.opcode = AluOpcode::kShr;
      shift.use_imm = true;
      shift.imm = bit == 0 ? 0 : hardware_.output_bits;
      shift.loop.uop_end = 1;
      shift.loop.iter_out = rows;
      shift.loop.iter_in = row;
      shift.loop.dst_factor_in = shift.loop.src_factor_in = 1;
      shift.loop.dst_factor_out = shift.loop.src_factor_out = rows > 1 ? row : 0;
      emit_alu(shift);
      MemoryInstruction store;
      store.is_store = true;
      store.memory_type = MemoryType::kOutput;
      store.y_size = rows;
      store.x_size = store.x_stride = row;
      store.dram_base = uint32_t(int64_t(program_.dram.size()) / bytes);
      program_.dram.resize(program_.dram.size() + size_t(depth * bytes));
      emit_store(store);
    }
  }

  void append_code() {
    std::vector<std::byte> code;
    for (const Instruction& instruction : stream_.instructions()) encode(hardware_, instruction, code);
    const size_t alignment = size_t(hardware_.instruction_bytes());
    program_.address = round_up(program_.dram.size(), alignment);
    program_.count = stream_.instructions().size();
    program_.dram.resize(program_.address);
    program_.dram.insert(program_.dram.end(), code.begin(), code.end());
    // A whole number of the widest beats.
    program_.dram.resize((program_.dram.size() + 63) / 64 * 64);
  }

  const OverlayHardware& hardware_;
  const IsaLayout layout_;
  Random& random_;
  RandomProgram program_;
  TokenPlacement stream_;
  std::vector<Touched> inputs_, weights_, accumulators_, table_, wide_table_, stored_;
  std::vector<MicroOp> uops_;  // what stands in the micro-op scratchpad
  uint32_t alu_last_ = 0;      // an ALU instruction or a GEMM beside it, if nothing of compute followed
  int alu_halves_ = 0;         // of ACC that this ALU instruction touches
};

}  // namespace

RandomProgram random_stream(const OverlayHardware& hardware, Random& random, int length) {
  return StreamGenerator(hardware, random).generate(length);
}

ProgramImage random_stream_image(const OverlayHardware& hardware, const RandomProgram& program) {
  const std::span<const std::byte> memory(program.dram);
  ProgramImage image;
  image.instructions = memory.subspan(program.address, program.count * size_t(hardware.instruction_bytes()));
  image.uops = memory.first((kStreamUops + 1) * size_t(hardware.uop_bytes()));
  image.memory_bytes = memory.size();
  return image;
}

}  // namespace tilewright::overlay
