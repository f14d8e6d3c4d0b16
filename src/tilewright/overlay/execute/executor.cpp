// Data effects of single instructions. Every instruction is checked as a whole before it touches anything:
// the extremes of its affine index ranges against the scratchpad depths, its rows against the DRAM.
#include "tilewright/overlay/execute/executor.h"

#include <algorithm>

#include "tilewright/overlay/execute/program_place.h"
#include "tilewright/overlay/execute/row_functions.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::overlay {
namespace {

const KernelSet& select_kernels(SimulatorKernel wanted) {
  const KernelSet* vnni = avx512_vnni_kernels();
  const KernelSet* avx2 = avx2_kernels();
  switch (wanted) {
    case SimulatorKernel::kScalar:
      return kPortableKernels;
    case SimulatorKernel::kAvx2:
      if (avx2 == nullptr)
        throw Error(ErrorKind::kUnsupported, "this CPU has no AVX2", "use the automatic kernel");
      return *avx2;
    case SimulatorKernel::kAvx512Vnni:
      if (vnni == nullptr) {
        throw Error(ErrorKind::kUnsupported, "this CPU has no AVX-512 VNNI", "use the automatic kernel");
      }
      return *vnni;
    case SimulatorKernel::kAuto:
      break;
  }
  return vnni != nullptr ? *vnni : avx2 != nullptr ? *avx2 : kPortableKernels;
}

bool is_empty(const LoopNest& loop) {
  return loop.uop_begin >= loop.uop_end || loop.iter_out == 0 || loop.iter_in == 0;
}

uint64_t reach(const LoopNest& loop, uint32_t factor_out, uint32_t factor_in) {
  return uint64_t{loop.iter_out - 1} * factor_out + uint64_t{loop.iter_in - 1} * factor_in;
}

std::string range_text(const char* what, uint64_t last, int64_t depth) {
  return std::string(what) + " index reaches " + std::to_string(last) + " of a scratchpad of " +
         std::to_string(depth) + " elements";
}

}  // namespace

void fail_instruction(uint32_t index, const std::string& name, const std::string& message,
                      const std::string& hint) {
  throw Error(std::vector<Diagnostic>{
      {ErrorKind::kInvalidInput, "instruction " + std::to_string(index), name, message, hint}});
}

InstructionExecutor::InstructionExecutor(OverlayHardware description, SimulatorKernel kernel)
    : hardware(std::move(description)),
      layout(hardware),
      kernels(select_kernels(kernel)),
      pads(hardware, kernels),
      plans(hardware.accumulator_depth()),
      words(size_t(layout.words)),
      unpacked_(size_t(pads.block_in) * size_t(pads.block_out)) {}

void InstructionExecutor::begin(std::span<std::byte> memory, uint64_t address, uint64_t count,
                                Deadline* deadline) {
  Diagnostics diagnostics;
  verify_place(hardware, memory.size(), address, count, diagnostics);
  diagnostics.raise_if_any();
  time.begin(deadline);
  dram = memory;
  input_bytes_ = uint64_t(hardware.input_bytes());
  dram_inputs_ = dram.size() / input_bytes_;
  stream_begin = address;
  stream_end = address + count * words * 8;
  alu_may_run_ = false;
  counters = RunCounters{};
  counters.instructions = count;
}

void InstructionExecutor::check_dram(uint32_t index, const MemoryInstruction& i, int64_t element_bytes,
                                     const char* name) const {
  const uint64_t elements = i.dram_base + uint64_t{i.y_size - 1} * i.x_stride + i.x_size;
  if (elements <= dram.size() / uint64_t(element_bytes)) return;
  fail_instruction(index, name,
                   "dram_base " + std::to_string(i.dram_base) + ", " + std::to_string(i.y_size) +
                       " rows of " + std::to_string(i.x_size) + " elements, stride " +
                       std::to_string(i.x_stride) + " end at byte " +
                       std::to_string(elements * uint64_t(element_bytes)) + " of a memory of " +
                       std::to_string(dram.size()));
}

void InstructionExecutor::load_row(const MemoryInstruction& i, uint32_t target, const std::byte* source,
                                   size_t count) {
  switch (i.memory_type) {
    case MemoryType::kInput:
      return load_inputs(kernels, pads, target, source, count);
    case MemoryType::kWeight: {
      const size_t bytes = size_t(hardware.weight_bytes());
      for (size_t e = 0; e < count; ++e, source += bytes) {
        const int8_t* lanes = reinterpret_cast<const int8_t*>(source);
        if (pads.weight_bits != 8) {
          unpack_lanes(source, pads.weight_bits, OneBit::kBipolar, unpacked_.size(), unpacked_.data());
          lanes = unpacked_.data();
        }
        set_weight(target + uint32_t(e), lanes);
      }
      return;
    }
    case MemoryType::kWideTable:
      for (size_t e = 0; e < count; ++e) {
        pads.wide_table[target + e] = int32_t(uint32_t(read_little_endian(source + 4 * e, 4)));
      }
      return;
    case MemoryType::kAccumulator:
      return pads.load_accumulators(target, source, count, pads.accumulator_bits);
    case MemoryType::kAccumulator8:
      return pads.load_accumulators(target, source, count, 8);
    case MemoryType::kTable:
      std::memcpy(pads.table.data() + target, source, count);
      return;
    case MemoryType::kUop:
      for (size_t e = 0; e < count; ++e) {
        uint64_t word = 0;
        std::memcpy(&word, source + e * size_t(hardware.uop_bytes()), size_t(hardware.uop_bytes()));
        pads.uops[target + e] = layout.decode_uop(word);
      }
      return;
    case MemoryType::kWeightRows:
    case MemoryType::kWeightColumns:
    case MemoryType::kOutput:
      return;  // not loaded by elements, or not at all
  }
}

void InstructionExecutor::set_weight(uint32_t index, const int8_t* lanes) {
  if (!pads.weight_lanes.empty()) {
    std::copy_n(lanes, unpacked_.size(), pads.weight_lanes.begin() + ptrdiff_t(index * unpacked_.size()));
  }
  kernels.pack_weight(pads, index, lanes);
}

// Rows of INP elements, padded ones among them: element x of row y goes into row, or column, y modulo the
// block of WGT element sram_base + y / block * row + x.
void InstructionExecutor::load_transposed(const MemoryInstruction& i, const std::byte* source) {
  const bool as_rows = i.memory_type == MemoryType::kWeightRows;
  const uint32_t block = uint32_t(pads.block_in), row = i.x_pad_0 + i.x_size + i.x_pad_1;
  const uint32_t rows = i.y_pad_0 + i.y_size + i.y_pad_1;
  for (uint32_t y = 0; y < rows; ++y) {
    const bool data_row = y >= i.y_pad_0 && y - i.y_pad_0 < i.y_size;
    for (uint32_t x = 0; x < row; ++x) {
      const bool data = data_row && x >= i.x_pad_0 && x - i.x_pad_0 < i.x_size;
      const std::byte* from =
          source + (uint64_t{y - i.y_pad_0} * i.x_stride + x - i.x_pad_0) * uint64_t(input_bytes_);
      int8_t* element =
          pads.weight_lanes.data() + size_t{i.sram_base + y / block * row + x} * unpacked_.size();
      for (uint32_t lane = 0; lane < block; ++lane) {
        const int8_t value = data ? int8_t(from[lane]) : int8_t(wrap(i.pad_value, 8));
        element[as_rows ? y % block * block + lane : lane * block + y % block] = value;
      }
    }
    if (y % block + 1 < block && y + 1 < rows) continue;
    for (uint32_t x = 0; x < row; ++x) {
      const uint32_t index = i.sram_base + y / block * row + x;
      kernels.pack_weight(pads, index, pads.weight_lanes.data() + size_t{index} * unpacked_.size());
    }
  }
}

void InstructionExecutor::fill(const MemoryInstruction& i, uint32_t target, uint64_t count) {
  if (count == 0) return;
  switch (i.memory_type) {
    case MemoryType::kInput:
      for_each_reading(pads, [&] {
        kernels.fill_inputs(pads, target, count,
                            lane_value(i.pad_value, pads.input_bits, pads.input_reading));
      });
      return;
    case MemoryType::kWeight:
      std::fill(unpacked_.begin(), unpacked_.end(),
                lane_value(i.pad_value, pads.weight_bits, OneBit::kBipolar));
      for (uint64_t e = 0; e < count; ++e) set_weight(target + uint32_t(e), unpacked_.data());
      return;
    case MemoryType::kAccumulator:
    case MemoryType::kAccumulator8:
      return pads.fill_accumulators(target, count, wrap(i.pad_value, pads.accumulator_bits));
    case MemoryType::kTable:
      std::fill_n(pads.table.begin() + target, count, int8_t(wrap(i.pad_value, 8)));
      return;
    case MemoryType::kWideTable:
      std::fill_n(pads.wide_table.begin() + target, count, i.pad_value);
      return;
    case MemoryType::kUop:
      std::fill_n(pads.uops.begin() + target, count, MicroOp{});
      return;
    case MemoryType::kWeightRows:
    case MemoryType::kWeightColumns:
    case MemoryType::kOutput:
      return;
  }
}

void InstructionExecutor::load(uint32_t index, const MemoryInstruction& i) {
  const int64_t bytes = element_bytes(hardware, i.memory_type);
  int64_t depth = 0;
  uint64_t* moved = nullptr;
  switch (i.memory_type) {
    case MemoryType::kUop:
      depth = pads.uop_depth, moved = &counters.uop_load_bytes;
      break;
    case MemoryType::kInput:
      depth = pads.input_depth, moved = &counters.input_load_bytes;
      break;
    case MemoryType::kWeight:
    case MemoryType::kWeightRows:
    case MemoryType::kWeightColumns:
      depth = pads.weight_depth, moved = &counters.weight_load_bytes;
      break;
    case MemoryType::kAccumulator:
    case MemoryType::kAccumulator8:
      depth = pads.accumulator_depth, moved = &counters.accumulator_load_bytes;
      break;
    case MemoryType::kTable:
    case MemoryType::kWideTable:
      depth = kTableEntries, moved = &counters.accumulator_load_bytes;
      break;
    case MemoryType::kOutput:
      return;  // refused by execute_memory
  }
  const uint64_t rows = uint64_t{i.y_pad_0} + i.y_size + i.y_pad_1;
  if (rows == 0) return;
  const uint64_t row = uint64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  const uint64_t blocks = transposes(i.memory_type) ? (rows - 1) / uint64_t(pads.block_in) + 1 : rows;
  const uint64_t end = i.sram_base + blocks * row;
  if (end > uint64_t(depth)) {
    fail_instruction(index, "LOAD",
                     range_text((std::string("sram_base ") + std::to_string(i.sram_base) + ": " +
                                 memory_type_name(i.memory_type))
                                    .c_str(),
                                end - 1, depth));
  }
  if (i.y_size > 0) check_dram(index, i, bytes, "LOAD");
  if (i.memory_type == MemoryType::kUop) plans.invalidate(i.sram_base, uint32_t(end));
  *moved += uint64_t{i.y_size} * i.x_size * uint64_t(bytes);
  if (!effects && i.memory_type != MemoryType::kUop) return;

  uint32_t target = i.sram_base;
  const std::byte* source = dram.data() + uint64_t{i.dram_base} * uint64_t(bytes);
  if (transposes(i.memory_type)) return load_transposed(i, source);
  if (i.y_size == 1 && row == i.x_size && i.y_pad_0 == 0 && i.y_pad_1 == 0)
    return load_row(i, target, source, i.x_size);
  fill(i, target, i.y_pad_0 * row);
  target += uint32_t(i.y_pad_0 * row);
  for (uint32_t y = 0; y < i.y_size; ++y) {
    fill(i, target, i.x_pad_0);
    load_row(i, target + i.x_pad_0, source, i.x_size);
    fill(i, target + i.x_pad_0 + i.x_size, i.x_pad_1);
    target += uint32_t(row);
    source += size_t{i.x_stride} * size_t(bytes);
  }
  fill(i, target, i.y_pad_1 * row);
}

void InstructionExecutor::store(uint32_t index, const MemoryInstruction& i) {
  if (i.y_size == 0) return;
  const uint64_t end = i.sram_base + uint64_t{i.y_size} * i.x_size;
  if (end > uint64_t(pads.accumulator_depth)) {
    fail_instruction(index, "STORE",
                     range_text(("sram_base " + std::to_string(i.sram_base) + ": out").c_str(), end - 1,
                                pads.accumulator_depth));
  }
  const int64_t bytes = hardware.output_bytes();
  check_dram(index, i, bytes, "STORE");
  const uint64_t first = uint64_t{i.dram_base} * uint64_t(bytes);
  const uint64_t stride = uint64_t{i.x_stride} * uint64_t(bytes), row = uint64_t{i.x_size} * uint64_t(bytes);
  // Rows may lie on both sides of the program; most stores end before it.
  const bool beyond = first + (i.y_size - 1) * stride + row > stream_begin;
  for (uint64_t y = 0, at = first; beyond && y < i.y_size; ++y, at += stride) {
    if (at >= stream_end || at + row <= stream_begin) continue;
    fail_instruction(index, "STORE",
                     "bytes " + std::to_string(at) + " to " + std::to_string(at + row) +
                         " overlap the running program at " + std::to_string(stream_begin));
  }
  counters.output_store_bytes += uint64_t{i.y_size} * i.x_size * uint64_t(bytes);
  if (!effects) return;
  for (uint32_t y = 0; y < i.y_size; ++y) {
    kernels.store_outputs(pads, i.sram_base + y * i.x_size,
                          dram.data() + first + uint64_t{y} * i.x_stride * uint64_t(bytes), i.x_size);
  }
}

MemoryInstruction InstructionExecutor::decode_memory(const uint64_t* in) const {
  const auto get = [in](const BitField& field) { return uint32_t(field.get(in)); };
  MemoryInstruction i;
  i.is_store = IsaOpcode(layout.opcode.get(in)) == IsaOpcode::kStore;
  i.memory_type = layout.memory_type(in);
  i.x_size = get(layout.memory.x_size);
  i.sram_base = get(layout.memory.sram_base);
  i.dram_base = get(layout.memory.dram_base);
  i.y_size = get(layout.memory.y_size);
  i.x_stride = get(layout.memory.x_stride);
  i.y_pad_0 = get(layout.memory.y_pad_0);
  i.y_pad_1 = get(layout.memory.y_pad_1);
  i.x_pad_0 = get(layout.memory.x_pad_0);
  i.x_pad_1 = get(layout.memory.x_pad_1);
  i.pad_value = int32_t(layout.memory.pad_value.get_signed(in));
  return i;
}

void InstructionExecutor::execute_memory(uint32_t index, const MemoryInstruction& i) {
  if (!i.is_store && !loads_early(i.memory_type)) alu_may_run_ = false;
  if (i.x_size == 0) return;  // moves tokens only, whatever else it says
  const char* const name = i.is_store ? "STORE" : "LOAD";
  if (!layout.knows(i.memory_type)) {
    fail_instruction(index, name, "memory_type " + std::to_string(int(i.memory_type)) + " is unknown");
  }
  if (i.is_store && i.memory_type != MemoryType::kOutput) {
    fail_instruction(index, name,
                     std::string("memory_type ") + memory_type_name(i.memory_type) + " cannot be stored",
                     "only out can");
  }
  if (!i.is_store && i.memory_type == MemoryType::kOutput) {
    fail_instruction(index, name, "memory_type out cannot be loaded");
  }
  if (i.is_store) {
    store(index, i);
  } else {
    load(index, i);
  }
}

LoopNest InstructionExecutor::decode_extents(const IsaLayout::Loop& fields, const uint64_t* in) const {
  LoopNest loop;
  loop.uop_begin = uint32_t(fields.uop_begin.get(in));
  loop.uop_end = uint32_t(fields.uop_end.get(in));
  loop.iter_out = uint32_t(fields.iter_out.get(in));
  loop.iter_in = uint32_t(fields.iter_in.get(in));
  return loop;
}

void InstructionExecutor::decode_factors(const IsaLayout::Loop& fields, const uint64_t* in,
                                         LoopNest& loop) const {
  loop.dst_factor_out = uint32_t(fields.dst_factor_out.get(in));
  loop.dst_factor_in = uint32_t(fields.dst_factor_in.get(in));
  loop.src_factor_out = uint32_t(fields.src_factor_out.get(in));
  loop.src_factor_in = uint32_t(fields.src_factor_in.get(in));
  loop.wgt_factor_out = uint32_t(fields.wgt_factor_out.get(in));
  loop.wgt_factor_in = uint32_t(fields.wgt_factor_in.get(in));
}

void InstructionExecutor::check_uop_range(uint32_t index, const char* name, const LoopNest& loop) const {
  if (loop.uop_end <= uint64_t(pads.uop_depth)) return;
  fail_instruction(index, name, range_text("uop_end: uop", loop.uop_end - 1, pads.uop_depth));
}

unsigned InstructionExecutor::banks(uint64_t low, uint64_t high) const {
  const uint64_t half = uint64_t(pads.accumulator_depth) / 2;
  return (low < half ? 1u : 0u) | (high >= half ? 2u : 0u);
}

void InstructionExecutor::check_banks(uint32_t index, uint64_t low, uint64_t high) const {
  const unsigned mine = banks(low, high);
  if (alu_banks_ == 0 || (mine ^ alu_banks_) == 3u) return;
  static constexpr const char* kNames[] = {"no", "the lower", "the upper", "either"};
  fail_instruction(index, "GEMM",
                   std::string("runs beside an ALU instruction that uses ") + kNames[alu_banks_] +
                       " half of ACC, and writes to " + kNames[mine] + " half",
                   "beside_alu needs one half for each");
}

void InstructionExecutor::execute_gemm_loops(uint32_t index, const uint64_t* in) {
  alu_may_run_ = alu_may_run_ && runs_beside_alu(in);
  LoopNest loop = decode_extents(layout.gemm, in);
  if (is_empty(loop)) return;
  check_uop_range(index, "GEMM", loop);
  const bool reset = layout.gemm.reset.get(in) != 0;
  const OtherReading reading(pads, layout.bipolar.get(in) != 0);
  const auto check = [&](uint64_t dst, uint64_t src, uint64_t wgt) {
    if (dst >= uint64_t(pads.accumulator_depth))
      fail_instruction(index, "GEMM", range_text("dst", dst, pads.accumulator_depth));
    if (reset) return;
    if (src >= uint64_t(pads.input_depth))
      fail_instruction(index, "GEMM", range_text("src", src, pads.input_depth));
    if (wgt >= uint64_t(pads.weight_depth))
      fail_instruction(index, "GEMM", range_text("wgt", wgt, pads.weight_depth));
  };
  const uint64_t iterations = uint64_t{loop.iter_out} * loop.iter_in;
  const uint64_t executed = iterations * (loop.uop_end - loop.uop_begin);
  (reset ? counters.gemm_reset_uops : counters.gemm_uops) += executed;
  decode_factors(layout.gemm, in, loop);
  const UopPlan& plan = plans.get(pads.uops, loop.uop_begin, loop.uop_end);
  check(plan.max_dst + reach(loop, loop.dst_factor_out, loop.dst_factor_in),
        plan.max_src + reach(loop, loop.src_factor_out, loop.src_factor_in),
        plan.max_wgt + reach(loop, loop.wgt_factor_out, loop.wgt_factor_in));
  if (alu_may_run_) {
    check_banks(index, plan.min_dst, plan.max_dst + reach(loop, loop.dst_factor_out, loop.dst_factor_in));
  }
  if (!effects) return;
  if (!reset && plan.any_overwrite && !plans.destinations_distinct(plan, loop)) return gemm_in_order(loop);
  const auto kernel = reset ? kernels.gemm_reset : kernels.gemm;
  in_pieces(loop, [&](const LoopNest& piece, uint32_t y, uint32_t x) {
    if (y == 0 && x == 0) return kernel(pads, plan, piece);
    UopPlan moved = plan;
    for (GemmGroup& group : moved.groups) group.dst += y * loop.dst_factor_out + x * loop.dst_factor_in;
    for (GemmStep& step : moved.steps) {
      step.src += y * loop.src_factor_out + x * loop.src_factor_in;
      step.wgt += y * loop.wgt_factor_out + x * loop.wgt_factor_in;
    }
    kernel(pads, moved, piece);
  });
}

// Calls run(piece, y, x) for pieces of `loop` that take a small part of a second, in order; each begins at
// iteration (y, x). Without a time limit there is one piece.
template <typename Run>
void InstructionExecutor::in_pieces(const LoopNest& loop, const Run& run) {
  constexpr uint64_t kPiece = uint64_t{1} << 18;
  const uint64_t uops = loop.uop_end - loop.uop_begin, row = uops * loop.iter_in;
  if (!time.limited() || row * loop.iter_out <= kPiece) return run(loop, 0, 0);
  const uint32_t rows = uint32_t(std::clamp<uint64_t>(kPiece / row, 1, loop.iter_out));
  const uint32_t columns =
      rows > 1 ? loop.iter_in : uint32_t(std::clamp<uint64_t>(kPiece / uops, 1, loop.iter_in));
  for (uint32_t y = 0; y < loop.iter_out; y += rows) {
    for (uint32_t x = 0; x < loop.iter_in; x += columns) {
      time.check();
      LoopNest piece = loop;
      piece.iter_out = std::min(rows, loop.iter_out - y);
      piece.iter_in = std::min(columns, loop.iter_in - x);
      run(piece, y, x);
    }
  }
}

// Overwrites that meet other iterations: program order.
void InstructionExecutor::gemm_in_order(const LoopNest& loop) {
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      time.check();
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        const MicroOp& op = pads.uops[u];
        kernels.gemm_one(pads, op.dst + y * loop.dst_factor_out + x * loop.dst_factor_in,
                         op.src + y * loop.src_factor_out + x * loop.src_factor_in,
                         op.wgt + y * loop.wgt_factor_out + x * loop.wgt_factor_in, op.overwrite);
      }
    }
  }
}

void InstructionExecutor::execute_alu(uint32_t index, const uint64_t* in) {
  AluInstruction alu;
  alu.loop = decode_extents(layout.alu, in);
  decode_factors(layout.alu, in, alu.loop);
  const uint32_t code = uint32_t(layout.alu_opcode.get(in));
  if (code > uint32_t(layout.last_alu_opcode())) {
    fail_instruction(index, "ALU", "alu_opcode " + std::to_string(code) + " is unknown");
  }
  alu_may_run_ = hardware.gemm_beside_alu;
  alu_banks_ = 0;
  if (is_empty(alu.loop)) return;
  check_uop_range(index, "ALU", alu.loop);
  alu.opcode = AluOpcode(code);
  alu.use_imm = layout.use_imm.get(in) != 0;
  alu.imm = int32_t(layout.imm.get_signed(in));
  alu.clip_low = int32_t(layout.clip_low.get_signed(in));
  alu.clip_high = int32_t(layout.clip_high.get_signed(in));
  const UopPlan& plan = plans.get(pads.uops, alu.loop.uop_begin, alu.loop.uop_end);
  const uint64_t dst = plan.max_dst + reach(alu.loop, alu.loop.dst_factor_out, alu.loop.dst_factor_in) +
                       elements_written(alu.opcode) - 1;
  if (dst >= uint64_t(pads.accumulator_depth))
    fail_instruction(index, "ALU", range_text("dst", dst, pads.accumulator_depth));
  const uint32_t read = elements_read(alu);
  const bool reads_source = read > 0;
  const uint64_t src =
      plan.max_src + reach(alu.loop, alu.loop.src_factor_out, alu.loop.src_factor_in) + read - reads_source;
  if (reads_source && src >= uint64_t(pads.accumulator_depth)) {
    fail_instruction(index, "ALU", range_text("src", src, pads.accumulator_depth));
  }
  alu_banks_ = banks(plan.min_dst, dst) | (reads_source ? banks(plan.min_src, src) : 0);
  const uint64_t executed =
      uint64_t{alu.loop.iter_out} * alu.loop.iter_in * (alu.loop.uop_end - alu.loop.uop_begin);
  counters.alu_uops += executed;
  counters.alu_lanes += executed * uint64_t(pads.batch) * uint64_t(pads.block_out);
  if (!effects) return;
  if (works_on_rows(alu.opcode)) return run_rows(alu);
  in_pieces(alu.loop, [&](const LoopNest& piece, uint32_t y, uint32_t x) {
    AluInstruction part = alu;
    part.loop = piece;
    if (y == 0 && x == 0) return run_alu(pads.uops.data(), part);
    std::vector<MicroOp> moved(pads.uops.begin() + piece.uop_begin, pads.uops.begin() + piece.uop_end);
    for (MicroOp& op : moved) {
      op.dst += y * piece.dst_factor_out + x * piece.dst_factor_in;
      op.src += y * piece.src_factor_out + x * piece.src_factor_in;
    }
    part.loop.uop_end -= part.loop.uop_begin;
    part.loop.uop_begin = 0;
    run_alu(moved.data(), part);
  });
}

// A row leaves its parameters when the next one has been read.
void InstructionExecutor::run_rows(const AluInstruction& alu) {
  const LoopNest& loop = alu.loop;
  const RowOperands fields(alu);
  const uint32_t lanes = uint32_t(pads.block_out), last_lanes = std::min(fields.lanes, lanes);
  RowParameters row;
  const auto write_row = [&](uint32_t y) {
    const size_t dst = pads.uops[loop.uop_begin].dst + size_t{y} * loop.dst_factor_out;
    int32_t* out = pads.accumulator.data() + dst * pads.accumulator_lanes;
    for (const int32_t value : {row.bias, row.multiplier, row.shift}) {
      std::fill_n(out, lanes, value);
      out += pads.accumulator_lanes;
    }
  };
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    RowSums sums;
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      time.check();
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        const size_t src =
            pads.uops[u].src + size_t{y} * loop.src_factor_out + size_t{x} * loop.src_factor_in;
        const int32_t* values = pads.accumulator.data() + src * pads.accumulator_lanes;
        const bool last = x + 1 == loop.iter_in && u + 1 == loop.uop_end;
        for (uint32_t lane = 0; lane < (last ? last_lanes : lanes); ++lane)
          sums.add(alu.opcode, values[lane]);
      }
    }
    if (y > 0) write_row(y - 1);
    row = row_parameters(alu.opcode, sums, fields);
  }
  write_row(loop.iter_out - 1);
}

// Lookups step by step: a later step may read what an earlier one has looked up.
void InstructionExecutor::run_alu(const MicroOp* uops, const AluInstruction& alu) {
  if (!looks_up(alu.opcode)) return kernels.alu(pads, uops, alu);
  const LoopNest& loop = alu.loop;
  AluInstruction one = alu;
  one.opcode = AluOpcode::kRequantize;
  one.loop = {.uop_end = 1};
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        const MicroOp op{uops[u].dst + y * loop.dst_factor_out + x * loop.dst_factor_in,
                         uops[u].src + y * loop.src_factor_out + x * loop.src_factor_in};
        kernels.alu(pads, &op, one);
        int32_t* const lanes = pads.accumulator.data() + size_t{op.dst} * pads.accumulator_lanes;
        for (size_t lane = 0; lane < pads.accumulator_lanes; ++lane) {
          const uint8_t entry = uint8_t(lanes[lane]) ^ 0x80;
          lanes[lane] = alu.opcode == AluOpcode::kLookup ? pads.table[entry] : pads.wide_table[entry];
        }
      }
    }
  }
}

}  // namespace tilewright::overlay
