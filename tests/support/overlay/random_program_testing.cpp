// DRAM holds the micro-ops, random data and then the program. Micro-op indices use the lower half of each
// scratchpad and loop factors the room above it; a token is popped only when program order has pushed it. At
// the end ACC is stored and shifted right until all of its bits have been in DRAM.
#include "support/overlay/random_program_testing.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

constexpr int kProgramUops = 64;

class ProgramGenerator {
 public:
  ProgramGenerator(const OverlayHardware& hardware, Random& random) : hardware_(hardware), random_(random) {}

  RandomProgram generate(int length) {
    const int64_t data_bytes = 1 << 18;
    program_.dram.resize(size_t(data_bytes));
    for (std::byte& byte : program_.dram) byte = std::byte(random_.next());
    write_uops();
    load(MemoryType::kUop, 0, kProgramUops);
    for (int i = 0; i < length; ++i) instruction();
    expose_accumulators();
    emit(FinishInstruction{}, 1);
    const int64_t alignment = hardware_.instruction_bytes();
    program_.address = (program_.dram.size() + size_t(alignment) - 1) / size_t(alignment) * size_t(alignment);
    program_.dram.resize(program_.address);
    program_.dram.insert(program_.dram.end(), code_.begin(), code_.end());
    return std::move(program_);
  }

 private:
  int64_t at_most(int64_t high) { return random_.between(0, std::max<int64_t>(high, 0)); }

  // The micro-ops stand at the start of the memory; indices use the lower half of every scratchpad.
  void write_uops() {
    std::vector<std::byte> bytes;
    for (int u = 0; u < kProgramUops; ++u) {
      const bool few = random_.chance(0.5);  // repeated destinations make reductions
      MicroOp op;
      op.dst = uint32_t(at_most(few ? 3 : hardware_.accumulator_depth() / 2 - 1));
      op.src = uint32_t(at_most(std::min(hardware_.input_depth(), hardware_.accumulator_depth()) / 2 - 1));
      op.wgt = uint32_t(at_most(hardware_.weight_depth() / 2 - 1));
      op.overwrite = hardware_.isa == IsaVersion::kWide && random_.chance(0.2);
      encode(hardware_, op, bytes);
    }
    std::copy(bytes.begin(), bytes.end(), program_.dram.begin());
  }

  // Queue 0 load, 1 compute, 2 store. Pops only tokens that program order has: program order stays legal.
  template <typename T>
  void emit(T instruction, int queue) {
    Dependencies& d = instruction.dependencies;
    if (queue > 0) d.pop_prev = take(forward_[queue - 1]), d.push_prev = give(backward_[queue - 1]);
    if (queue < 2) d.pop_next = take(backward_[queue]), d.push_next = give(forward_[queue]);
    if constexpr (std::is_same_v<T, FinishInstruction>) d = {};
    encode(hardware_, Instruction(instruction), code_);
    ++program_.count;
  }
  bool take(int& tokens) {
    if (tokens == 0 || !random_.chance(0.6)) return false;
    --tokens;
    return true;
  }
  bool give(int& tokens) {
    if (tokens > 20 || !random_.chance(0.5)) return false;
    ++tokens;
    return true;
  }

  void load(MemoryType type, uint32_t dram, uint32_t count) {
    MemoryInstruction i;
    i.memory_type = type;
    i.dram_base = dram;
    i.y_size = 1;
    i.x_size = i.x_stride = count;
    emit(i, loads_early(type) ? 0 : 1);
  }

  void random_load(MemoryType type) {
    const int64_t depth = scratchpad_depth(hardware_, type);
    MemoryInstruction i;
    i.memory_type = type;
    const int64_t budget = type == MemoryType::kUop ? kProgramUops : std::min<int64_t>(depth, 200);
    if (type != MemoryType::kUop && random_.chance(0.5)) {
      i.y_pad_0 = uint32_t(at_most(2)), i.y_pad_1 = uint32_t(at_most(2));
      i.x_pad_0 = uint32_t(at_most(3)), i.x_pad_1 = uint32_t(at_most(3));
      if (hardware_.isa == IsaVersion::kWide) i.pad_value = int32_t(random_.next());
    }
    i.x_size = uint32_t(at_most(std::min<int64_t>(budget / 8, 20)));
    const int64_t row = i.x_pad_0 + i.x_size + i.x_pad_1;
    const int64_t rows = row == 0 ? 0 : budget / row - i.y_pad_0 - i.y_pad_1;
    if (rows < 0) return;
    const int64_t block = transposes(type) ? hardware_.block_in : 1;
    i.y_size = uint32_t(at_most(std::min<int64_t>(rows, 6) * (block > 1 ? 5 : 1)));
    const int64_t total = ceil_div(int64_t{i.y_pad_0} + i.y_size + i.y_pad_1, block) * row;
    if (total > depth) return;
    i.x_stride = uint32_t(i.x_size + at_most(5));
    i.sram_base = uint32_t(at_most((type == MemoryType::kUop ? kProgramUops : depth) - total));
    const int64_t span = int64_t{i.y_size} * i.x_stride + i.x_size;
    // Micro-ops come from where valid ones stand.
    const int64_t source = type == MemoryType::kUop
                               ? kProgramUops
                               : int64_t(program_.dram.size()) / element_bytes(hardware_, type);
    if (span > source) return;
    i.dram_base = uint32_t(at_most(source - span));
    emit(i, loads_early(type) ? 0 : 1);
  }

  LoopNest random_loop(bool gemm) {
    LoopNest l = random_iterations(random_, kProgramUops);
    // An index of up to half the depth stays below the depth.
    const int64_t acc_room = hardware_.accumulator_depth() / 2 - 3;
    random_factors(random_, acc_room, l, l.dst_factor_out, l.dst_factor_in);
    const int64_t src_room = gemm ? hardware_.input_depth() / 2 - 1 : acc_room;
    random_factors(random_, src_room, l, l.src_factor_out, l.src_factor_in);
    if (gemm && random_.chance(0.4)) {
      random_factors(random_, hardware_.weight_depth() / 2 - 1, l, l.wgt_factor_out, l.wgt_factor_in);
    }
    return l;
  }

  void random_alu() {
    AluInstruction i;
    const bool wide = hardware_.isa == IsaVersion::kWide;
    i.loop = random_loop(false);
    i.opcode = AluOpcode(random_.between(0, last_operation(hardware_)));
    i.use_imm = random_.chance(0.5);
    const int64_t imm = random_.chance(0.5) ? random_.between(-40, 40) : random_.between(-32768, 32767);
    i.imm = wide && random_.chance(0.3) ? int32_t(random_.next()) : int32_t(imm);
    if (wide) {
      i.clip_low = random_.chance(0.7) ? -128 : int32_t(random_.next());
      i.clip_high = random_.chance(0.7) ? 127 : int32_t(random_.next());
    }
    if (works_on_rows(i.opcode)) i.imm = random_row_immediate(hardware_, random_);
    emit(i, 1);
  }

  void instruction() {
    static constexpr MemoryType kTypes[] = {
        MemoryType::kInput,       MemoryType::kInput,        MemoryType::kWeight,       MemoryType::kWeight,
        MemoryType::kAccumulator, MemoryType::kAccumulator8, MemoryType::kUop,          MemoryType::kTable,
        MemoryType::kWideTable,   MemoryType::kWeightRows,   MemoryType::kWeightColumns};
    const int64_t kind = random_.between(0, 9);
    if (kind < 4) {
      random_load(kTypes[random_.between(0, hardware_.row_functions ? 10 : hardware_.lookup_table ? 7 : 6)]);
    } else if (kind < 7) {
      GemmInstruction i;
      i.loop = random_loop(true);
      i.reset = random_.chance(0.1);
      if (hardware_.isa == IsaVersion::kWide && hardware_.input_bits == 1) i.bipolar = random_.chance(0.5);
      if (random_.chance(0.2)) i.loop.uop_end = i.loop.uop_begin + 1, i.loop.iter_in = i.loop.iter_out = 1;
      emit(i, 1);
    } else if (kind < 9) {
      random_alu();
    } else {
      MemoryInstruction i;
      i.is_store = true;
      i.memory_type = MemoryType::kOutput;
      i.x_size = uint32_t(at_most(10));
      i.y_size = uint32_t(at_most(4));
      i.x_stride = uint32_t(i.x_size + at_most(3));
      i.sram_base = uint32_t(at_most(hardware_.accumulator_depth() - int64_t{i.x_size} * i.y_size));
      // Not over the micro-ops.
      i.dram_base = uint32_t(2048 / hardware_.output_bytes() + at_most(100));
      emit(i, 2);
    }
  }

  // Compute and store alternate through tokens: store the low bits, shift them out, until none are left.
  void expose_accumulators() {
    const int64_t depth = hardware_.accumulator_depth();
    MicroOp zero;
    std::vector<std::byte> bytes;
    encode(hardware_, zero, bytes);
    const int64_t at = int64_t(program_.dram.size()) / hardware_.uop_bytes();
    program_.dram.insert(program_.dram.end(), bytes.begin(), bytes.end());
    MemoryInstruction uop;
    uop.memory_type = MemoryType::kUop;
    uop.dram_base = uint32_t(at);
    uop.y_size = uop.x_size = uop.x_stride = 1;
    encode(hardware_, Instruction(uop), code_);
    ++program_.count;
    program_.dram.resize((program_.dram.size() + 255) / 256 * 256);
    const int step = std::min(hardware_.output_bits, 8);
    for (int bit = 0; bit < hardware_.accumulator_bits; bit += step) {
      MemoryInstruction store;
      store.is_store = true;
      store.memory_type = MemoryType::kOutput;
      store.y_size = uint32_t((depth + 1023) / 1024);
      store.x_size = store.x_stride = uint32_t(depth / store.y_size);
      store.dram_base = uint32_t(int64_t(program_.dram.size()) / hardware_.output_bytes());
      program_.dram.resize(program_.dram.size() + size_t(depth * hardware_.output_bytes()));
      // One token each way. Tokens left over from before would let one side run ahead: drain them first.
      AluInstruction shift;
      shift.opcode = AluOpcode::kShr;
      shift.use_imm = true;
      shift.imm = bit == 0 ? 0 : step;
      shift.loop.uop_begin = 0;
      shift.loop.uop_end = 1;
      shift.loop.iter_out = uint32_t((depth + 1023) / 1024);
      shift.loop.iter_in = uint32_t(depth / shift.loop.iter_out);
      shift.loop.dst_factor_in = shift.loop.src_factor_in = 1;
      shift.loop.dst_factor_out = shift.loop.src_factor_out =
          shift.loop.iter_out > 1 ? shift.loop.iter_in : 0;
      while (forward_[1] > 0) drain_store();
      shift.dependencies.push_next = true;
      shift.dependencies.pop_next = bit > 0;
      encode(hardware_, Instruction(shift), code_);
      store.dependencies.pop_prev = true;
      store.dependencies.push_prev = true;
      if (bit == 0) {
        while (backward_[1] > 0) drain_compute();
      }
      encode(hardware_, Instruction(store), code_);
      program_.count += 2;
    }
  }
  void drain_store() {
    MemoryInstruction nop;
    nop.is_store = true;
    nop.memory_type = MemoryType::kOutput;
    nop.dependencies.pop_prev = true;
    --forward_[1];
    encode(hardware_, Instruction(nop), code_);
    ++program_.count;
  }
  void drain_compute() {
    MemoryInstruction nop;
    nop.memory_type = MemoryType::kUop;
    nop.dependencies.pop_next = true;
    --backward_[1];
    encode(hardware_, Instruction(nop), code_);
    ++program_.count;
  }

  const OverlayHardware& hardware_;
  Random& random_;
  RandomProgram program_;
  std::vector<std::byte> code_;
  int forward_[2] = {}, backward_[2] = {};
};

OverlayHardware overlay(IsaVersion isa, int batch, int block_in, int block_out, int input_bits,
                        int weight_bits, int accumulator_bits) {
  OverlayHardware h;
  h.name = "varied";
  h.isa = isa;
  h.batch = batch;
  h.block_in = block_in;
  h.block_out = block_out;
  h.input_bits = h.output_bits = input_bits;
  h.weight_bits = weight_bits;
  h.accumulator_bits = accumulator_bits;
  h.uop_buffer_bytes = 128 * h.uop_bytes();
  h.input_buffer_bytes = 512 * h.input_bytes();
  h.weight_buffer_bytes = 128 * h.weight_bytes();
  h.accumulator_buffer_bytes = 512 * h.accumulator_bytes();
  return h;
}

OverlayHardware with_rows(OverlayHardware h) {
  h.lookup_table = h.row_functions = true;
  return h;
}

}  // namespace

int64_t last_operation(const OverlayHardware& hardware) {
  return hardware.isa != IsaVersion::kWide ? 4 : hardware.row_functions ? 12 : hardware.lookup_table ? 8 : 7;
}

int32_t random_row_immediate(const OverlayHardware& hardware, Random& random) {
  const int64_t lanes = random.between(0, random.chance(0.8) ? hardware.block_out : 65535);
  return int32_t(random.next() << 16 | uint64_t(lanes));
}

LoopNest random_iterations(Random& random, int64_t uops) {
  LoopNest l;
  l.uop_begin = uint32_t(random.between(0, uops - 1));
  l.uop_end = uint32_t(random.between(l.uop_begin + 1, uops));
  if (random.chance(0.5)) l.uop_end = std::min(l.uop_end, l.uop_begin + 4);
  l.iter_out = uint32_t(random.between(1, 6));
  l.iter_in = uint32_t(random.chance(0.3) ? random.between(1, 40) : random.between(1, 8));
  return l;
}

void random_factors(Random& random, int64_t room, const LoopNest& loop, uint32_t& out, uint32_t& in) {
  const auto factor = [&](int64_t most, uint32_t iterations) {
    return uint32_t(
        random.between(0, std::max<int64_t>(std::min(most, room / std::max<int64_t>(1, iterations)), 0)));
  };
  in = random.chance(0.3) ? 0 : factor(3, loop.iter_in);
  room -= int64_t{in} * loop.iter_in;
  out = random.chance(0.2) ? 0 : factor(40, loop.iter_out);
}

RandomProgram random_program(const OverlayHardware& hardware, Random& random, int length) {
  return ProgramGenerator(hardware, random).generate(length);
}

std::vector<OverlayHardware> varied_overlays() {
  OverlayHardware standard;
  standard.name = "default";
  return {standard,
          overlay(IsaVersion::kVta, 1, 16, 16, 8, 8, 32),
          overlay(IsaVersion::kWide, 1, 16, 16, 8, 8, 32),
          overlay(IsaVersion::kWide, 2, 32, 16, 8, 8, 32),
          overlay(IsaVersion::kWide, 4, 8, 8, 8, 4, 32),
          overlay(IsaVersion::kVta, 1, 32, 32, 4, 2, 32),
          overlay(IsaVersion::kWide, 1, 64, 64, 2, 1, 32),
          overlay(IsaVersion::kWide, 2, 16, 4, 8, 8, 16),
          overlay(IsaVersion::kVta, 8, 2, 2, 4, 8, 16),
          overlay(IsaVersion::kWide, 1, 8, 16, 1, 1, 8),
          overlay(IsaVersion::kWide, 1, 128, 16, 1, 1, 32),
          with_rows(overlay(IsaVersion::kWide, 1, 16, 16, 8, 8, 32)),
          with_rows(overlay(IsaVersion::kWide, 1, 4, 4, 8, 8, 32))};
}

}  // namespace tilewright::overlay
