// The three modules of the overlay (load, compute, store), their queues and token channels.
//
// Order: the stream is split into the three queues as the fetch unit would; then, until all are empty, load
// runs as far as its tokens allow, then compute, then store, and again. Loads so run ahead as early as any
// hardware could run them: a program that overwrites a scratchpad too early computes wrong data here too. For
// a program without hazards every legal order gives the same result.
//
// Every instruction is checked as a whole before it touches anything: the extremes of its affine index ranges
// against the scratchpad depths, its rows against the DRAM.
#include "tilewright/overlay/functional_simulator.h"

#include <algorithm>
#include <string>

#include "tilewright/overlay/isa_layout.h"
#include "tilewright/overlay/kernel_set.h"
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

enum Queue { kLoadQueue, kComputeQueue, kStoreQueue, kQueues };
constexpr const char* kQueueNames[] = {"load", "compute", "store"};
enum Channel {
  kLoadToCompute,
  kComputeToLoad,
  kComputeToStore,
  kStoreToCompute,
  kChannels,
  kNoChannel = kChannels
};
constexpr const char* kChannelNames[] = {"load->compute", "compute->load", "compute->store",
                                         "store->compute"};

// Which channel each dependency bit of each module means; kNoChannel where the module has no neighbour.
struct Wiring {
  Channel pop_prev, pop_next, push_prev, push_next;
};
constexpr Wiring kWiring[] = {{kNoChannel, kComputeToLoad, kNoChannel, kLoadToCompute},
                              {kLoadToCompute, kStoreToCompute, kComputeToLoad, kComputeToStore},
                              {kComputeToStore, kNoChannel, kStoreToCompute, kNoChannel}};

}  // namespace

struct FunctionalSimulator::State {
  State(OverlayHardware description, SimulatorKernel kernel)
      : hardware(std::move(description)),
        layout(hardware),
        kernels(select_kernels(kernel)),
        pads(hardware, kernels),
        plans(hardware.accumulator_depth()),
        words(size_t(layout.words)),
        unpacked(size_t(pads.block_in) * size_t(pads.block_out)) {}

  OverlayHardware hardware;
  IsaLayout layout;
  const KernelSet& kernels;
  Scratchpads pads;
  UopPlanCache plans;
  const size_t words;
  std::vector<int8_t> unpacked;  // lanes of one weight element

  // Of the current run.
  std::span<std::byte> dram;
  uint64_t stream_begin = 0, stream_end = 0;
  uint64_t input_bytes = 0, dram_inputs = 0;  // bytes of an input element, whole ones in the memory
  RunCounters counters;
  // Instruction indices by queue; buffers only grow, `length` says how much of them is this run's.
  std::vector<uint32_t> queue[kQueues];
  size_t length[kQueues] = {}, head[kQueues] = {};
  uint64_t tokens[kChannels + 1] = {};

  [[noreturn]] void fail(uint32_t index, const std::string& name, const std::string& message,
                         const std::string& hint = {}) const {
    throw Error(std::vector<Diagnostic>{
        {ErrorKind::kInvalidInput, "instruction " + std::to_string(index), name, message, hint}});
  }

  void fetch(uint64_t count);
  [[noreturn]] void reject(uint32_t index, uint64_t word, uint64_t count) const;
  void run();
  template <Queue kQueue>
  bool advance();
  [[noreturn]] void report_deadlock() const;
  const uint64_t* read(uint32_t index, uint64_t* buffer) const {
    // Two fixed sizes, because a copy of unknown size is a call.
    const std::byte* const at = dram.data() + stream_begin + index * words * 8;
    if (words == 2) {
      std::memcpy(buffer, at, 16);
    } else {
      std::memcpy(buffer, at, 32);
    }
    return buffer;
  }
  template <bool kWide>
  bool load_input_row(const uint64_t* in);
  void execute_memory(uint32_t index, const uint64_t* in);
  void load(uint32_t index, const MemoryInstruction& i);
  void store(uint32_t index, const MemoryInstruction& i);
  void check_dram(uint32_t index, const MemoryInstruction& i, int64_t element_bytes, const char* name) const;
  void load_row(const MemoryInstruction& i, uint32_t target, const std::byte* source, size_t count);
  void fill(const MemoryInstruction& i, uint32_t target, uint64_t count);
  void decode_extents(const IsaLayout::Loop& fields, const uint64_t* in, LoopNest& loop) const;
  void decode_factors(const IsaLayout::Loop& fields, const uint64_t* in, LoopNest& loop) const;
  void check_uop_range(uint32_t index, const char* name, const LoopNest& loop) const;
  void execute_gemm(uint32_t index, const uint64_t* in);
  void execute_alu(uint32_t index, const uint64_t* in);
};

namespace {

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

void FunctionalSimulator::State::check_dram(uint32_t index, const MemoryInstruction& i, int64_t element_bytes,
                                            const char* name) const {
  const uint64_t elements = i.dram_base + uint64_t{i.y_size - 1} * i.x_stride + i.x_size;
  if (elements <= dram.size() / uint64_t(element_bytes)) return;
  fail(index, name,
       "dram_base " + std::to_string(i.dram_base) + ", " + std::to_string(i.y_size) + " rows of " +
           std::to_string(i.x_size) + " elements, stride " + std::to_string(i.x_stride) + " end at byte " +
           std::to_string(elements * uint64_t(element_bytes)) + " of a memory of " +
           std::to_string(dram.size()));
}

void FunctionalSimulator::State::load_row(const MemoryInstruction& i, uint32_t target,
                                          const std::byte* source, size_t count) {
  switch (i.memory_type) {
    case MemoryType::kInput:
      return load_inputs(kernels, pads, target, source, count);
    case MemoryType::kWeight: {
      const size_t bytes = size_t(hardware.weight_bytes());
      for (size_t e = 0; e < count; ++e, source += bytes) {
        const int8_t* lanes = reinterpret_cast<const int8_t*>(source);
        if (pads.weight_bits != 8) {
          unpack_lanes(source, pads.weight_bits, OneBit::kBipolar, unpacked.size(), unpacked.data());
          lanes = unpacked.data();
        }
        kernels.pack_weight(pads, target + uint32_t(e), lanes);
      }
      return;
    }
    case MemoryType::kAccumulator:
      return pads.load_accumulators(target, source, count, pads.accumulator_bits);
    case MemoryType::kAccumulator8:
      return pads.load_accumulators(target, source, count, 8);
    case MemoryType::kUop:
      for (size_t e = 0; e < count; ++e) {
        uint64_t word = 0;
        std::memcpy(&word, source + e * size_t(hardware.uop_bytes()), size_t(hardware.uop_bytes()));
        pads.uops[target + e] = layout.decode_uop(word);
      }
      return;
    case MemoryType::kOutput:
      return;
  }
}

void FunctionalSimulator::State::fill(const MemoryInstruction& i, uint32_t target, uint64_t count) {
  if (count == 0) return;
  switch (i.memory_type) {
    case MemoryType::kInput:
      for_each_reading(pads, [&] {
        kernels.fill_inputs(pads, target, count,
                            lane_value(i.pad_value, pads.input_bits, pads.input_reading));
      });
      return;
    case MemoryType::kWeight:
      std::fill(unpacked.begin(), unpacked.end(),
                lane_value(i.pad_value, pads.weight_bits, OneBit::kBipolar));
      for (uint64_t e = 0; e < count; ++e) kernels.pack_weight(pads, target + uint32_t(e), unpacked.data());
      return;
    case MemoryType::kAccumulator:
    case MemoryType::kAccumulator8:
      return pads.fill_accumulators(target, count, wrap(i.pad_value, pads.accumulator_bits));
    case MemoryType::kUop:
      std::fill_n(pads.uops.begin() + target, count, MicroOp{});
      return;
    case MemoryType::kOutput:
      return;
  }
}

void FunctionalSimulator::State::load(uint32_t index, const MemoryInstruction& i) {
  int64_t depth = 0, bytes = 0;
  uint64_t* moved = nullptr;
  switch (i.memory_type) {
    case MemoryType::kUop:
      depth = pads.uop_depth, bytes = hardware.uop_bytes(), moved = &counters.uop_load_bytes;
      break;
    case MemoryType::kInput:
      depth = pads.input_depth, bytes = hardware.input_bytes(), moved = &counters.input_load_bytes;
      break;
    case MemoryType::kWeight:
      depth = pads.weight_depth, bytes = hardware.weight_bytes(), moved = &counters.weight_load_bytes;
      break;
    case MemoryType::kAccumulator:
      depth = pads.accumulator_depth, bytes = hardware.accumulator_bytes(),
      moved = &counters.accumulator_load_bytes;
      break;
    case MemoryType::kAccumulator8:
      depth = pads.accumulator_depth, bytes = int64_t{pads.batch} * pads.block_out;
      moved = &counters.accumulator_load_bytes;
      break;
    case MemoryType::kOutput:
      fail(index, "LOAD", "memory_type out cannot be loaded");
  }
  const uint64_t row = uint64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  const uint64_t end = i.sram_base + (uint64_t{i.y_pad_0} + i.y_size + i.y_pad_1) * row;
  if (end > uint64_t(depth)) {
    fail(index, "LOAD",
         range_text((std::string("sram_base ") + std::to_string(i.sram_base) + ": " +
                     memory_type_name(i.memory_type))
                        .c_str(),
                    end - 1, depth));
  }
  if (i.y_size > 0) check_dram(index, i, bytes, "LOAD");
  if (i.memory_type == MemoryType::kUop) plans.invalidate(i.sram_base, uint32_t(end));
  *moved += uint64_t{i.y_size} * i.x_size * uint64_t(bytes);

  uint32_t target = i.sram_base;
  const std::byte* source = dram.data() + uint64_t{i.dram_base} * uint64_t(bytes);
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

void FunctionalSimulator::State::store(uint32_t index, const MemoryInstruction& i) {
  if (i.memory_type != MemoryType::kOutput) {
    fail(index, "STORE", std::string("memory_type ") + memory_type_name(i.memory_type) + " cannot be stored",
         "only out can");
  }
  if (i.y_size == 0) return;
  const uint64_t end = i.sram_base + uint64_t{i.y_size} * i.x_size;
  if (end > uint64_t(pads.accumulator_depth)) {
    fail(index, "STORE",
         range_text(("sram_base " + std::to_string(i.sram_base) + ": out").c_str(), end - 1,
                    pads.accumulator_depth));
  }
  const int64_t bytes = hardware.output_bytes();
  check_dram(index, i, bytes, "STORE");
  const uint64_t first = uint64_t{i.dram_base} * uint64_t(bytes);
  const uint64_t last = first + (uint64_t{i.y_size - 1} * i.x_stride + i.x_size) * uint64_t(bytes);
  if (first < stream_end && stream_begin < last) {
    fail(index, "STORE",
         "bytes " + std::to_string(first) + " to " + std::to_string(last) +
             " overlap the running program at " + std::to_string(stream_begin));
  }
  counters.output_store_bytes += uint64_t{i.y_size} * i.x_size * uint64_t(bytes);
  for (uint32_t y = 0; y < i.y_size; ++y) {
    kernels.store_outputs(pads, i.sram_base + y * i.x_size,
                          dram.data() + first + uint64_t{y} * i.x_stride * uint64_t(bytes), i.x_size);
  }
}

// LOAD of one unpadded row of inputs. Returns whether it was that, and in range.
template <bool kWide>
inline bool FunctionalSimulator::State::load_input_row(const uint64_t* in) {
  constexpr IsaLayout::Memory kFields = IsaLayout::memory_fields(kWide);
  static_assert(kFields.y_pad_0.shift == (kWide ? 32 : 48) && kFields.x_pad_1.word == kFields.y_pad_0.word,
                "the four pads fill the top of one word");
  if (in[kFields.y_pad_0.word] >> kFields.y_pad_0.shift != 0 || kFields.y_size.get(in) != 1) return false;
  if (kFields.memory_type.get(in) != uint64_t(MemoryType::kInput)) return false;
  const uint64_t x = kFields.x_size.get(in), from = kFields.dram_base.get(in), to = kFields.sram_base.get(in);
  if (x == 0 || to + x > uint64_t(pads.input_depth) || from + x > dram_inputs) return false;
  counters.input_load_bytes += x * input_bytes;
  load_inputs(kernels, pads, uint32_t(to), dram.data() + from * input_bytes, x);
  return true;
}

void FunctionalSimulator::State::execute_memory(uint32_t index, const uint64_t* in) {
  const auto get = [in](const BitField& field) { return uint32_t(field.get(in)); };
  MemoryInstruction i;
  i.memory_type = MemoryType(get(layout.memory.memory_type));
  i.x_size = get(layout.memory.x_size);
  if (i.x_size == 0) return;  // moves tokens only
  i.sram_base = get(layout.memory.sram_base);
  i.dram_base = get(layout.memory.dram_base);
  i.y_size = get(layout.memory.y_size);
  i.x_stride = get(layout.memory.x_stride);
  i.y_pad_0 = get(layout.memory.y_pad_0);
  i.y_pad_1 = get(layout.memory.y_pad_1);
  i.x_pad_0 = get(layout.memory.x_pad_0);
  i.x_pad_1 = get(layout.memory.x_pad_1);
  i.pad_value = int32_t(layout.memory.pad_value.get_signed(in));
  if (Opcode(layout.opcode.get(in)) == Opcode::kStore) {
    store(index, i);
  } else {
    load(index, i);
  }
}

void FunctionalSimulator::State::decode_extents(const IsaLayout::Loop& fields, const uint64_t* in,
                                                LoopNest& loop) const {
  loop.uop_begin = uint32_t(fields.uop_begin.get(in));
  loop.uop_end = uint32_t(fields.uop_end.get(in));
  loop.iter_out = uint32_t(fields.iter_out.get(in));
  loop.iter_in = uint32_t(fields.iter_in.get(in));
}

void FunctionalSimulator::State::decode_factors(const IsaLayout::Loop& fields, const uint64_t* in,
                                                LoopNest& loop) const {
  loop.dst_factor_out = uint32_t(fields.dst_factor_out.get(in));
  loop.dst_factor_in = uint32_t(fields.dst_factor_in.get(in));
  loop.src_factor_out = uint32_t(fields.src_factor_out.get(in));
  loop.src_factor_in = uint32_t(fields.src_factor_in.get(in));
  loop.wgt_factor_out = uint32_t(fields.wgt_factor_out.get(in));
  loop.wgt_factor_in = uint32_t(fields.wgt_factor_in.get(in));
}

void FunctionalSimulator::State::check_uop_range(uint32_t index, const char* name,
                                                 const LoopNest& loop) const {
  if (loop.uop_end <= uint64_t(pads.uop_depth)) return;
  fail(index, name, range_text("uop_end: uop", loop.uop_end - 1, pads.uop_depth));
}

void FunctionalSimulator::State::execute_gemm(uint32_t index, const uint64_t* in) {
  LoopNest loop;
  decode_extents(layout.gemm, in, loop);
  if (is_empty(loop)) return;
  check_uop_range(index, "GEMM", loop);
  const bool reset = layout.gemm.reset.get(in) != 0;
  const OtherReading reading(pads, layout.bipolar.get(in) != 0);
  const auto check = [&](uint64_t dst, uint64_t src, uint64_t wgt) {
    if (dst >= uint64_t(pads.accumulator_depth))
      fail(index, "GEMM", range_text("dst", dst, pads.accumulator_depth));
    if (reset) return;
    if (src >= uint64_t(pads.input_depth)) fail(index, "GEMM", range_text("src", src, pads.input_depth));
    if (wgt >= uint64_t(pads.weight_depth)) fail(index, "GEMM", range_text("wgt", wgt, pads.weight_depth));
  };
  const uint64_t iterations = uint64_t{loop.iter_out} * loop.iter_in;
  const uint64_t executed = iterations * (loop.uop_end - loop.uop_begin);
  (reset ? counters.gemm_reset_uops : counters.gemm_uops) += executed;
  if (executed == 1 && !reset) {
    const MicroOp& op = pads.uops[loop.uop_begin];
    check(op.dst, op.src, op.wgt);
    return kernels.gemm_one(pads, op.dst, op.src, op.wgt, op.overwrite);
  }
  decode_factors(layout.gemm, in, loop);
  const UopPlan& plan = plans.get(pads.uops, loop.uop_begin, loop.uop_end);
  check(plan.max_dst + reach(loop, loop.dst_factor_out, loop.dst_factor_in),
        plan.max_src + reach(loop, loop.src_factor_out, loop.src_factor_in),
        plan.max_wgt + reach(loop, loop.wgt_factor_out, loop.wgt_factor_in));
  if (reset) return kernels.gemm_reset(pads, plan, loop);
  if (!plan.any_overwrite || plans.destinations_distinct(plan, loop)) return kernels.gemm(pads, plan, loop);
  // Overwrites that meet other iterations: program order.
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        const MicroOp& op = pads.uops[u];
        kernels.gemm_one(pads, op.dst + y * loop.dst_factor_out + x * loop.dst_factor_in,
                         op.src + y * loop.src_factor_out + x * loop.src_factor_in,
                         op.wgt + y * loop.wgt_factor_out + x * loop.wgt_factor_in, op.overwrite);
      }
    }
  }
}

void FunctionalSimulator::State::execute_alu(uint32_t index, const uint64_t* in) {
  AluInstruction alu;
  decode_extents(layout.alu, in, alu.loop);
  decode_factors(layout.alu, in, alu.loop);
  const uint32_t code = uint32_t(layout.alu_opcode.get(in));
  if (code > uint32_t(layout.wide ? AluOpcode::kRequantize : AluOpcode::kMul)) {
    fail(index, "ALU", "alu_opcode " + std::to_string(code) + " is unknown");
  }
  if (is_empty(alu.loop)) return;
  check_uop_range(index, "ALU", alu.loop);
  alu.opcode = AluOpcode(code);
  alu.use_imm = layout.use_imm.get(in) != 0;
  alu.imm = int32_t(layout.imm.get_signed(in));
  alu.clip_low = int32_t(layout.clip_low.get_signed(in));
  alu.clip_high = int32_t(layout.clip_high.get_signed(in));
  const UopPlan& plan = plans.get(pads.uops, alu.loop.uop_begin, alu.loop.uop_end);
  const uint64_t dst = plan.max_dst + reach(alu.loop, alu.loop.dst_factor_out, alu.loop.dst_factor_in);
  if (dst >= uint64_t(pads.accumulator_depth))
    fail(index, "ALU", range_text("dst", dst, pads.accumulator_depth));
  const bool requantize = alu.opcode == AluOpcode::kRequantize;
  const bool reads_source = requantize || (!alu.use_imm && alu.opcode != AluOpcode::kClip);
  const uint64_t src =
      plan.max_src + reach(alu.loop, alu.loop.src_factor_out, alu.loop.src_factor_in) + (requantize ? 2 : 0);
  if (reads_source && src >= uint64_t(pads.accumulator_depth)) {
    fail(index, "ALU", range_text("src", src, pads.accumulator_depth));
  }
  const uint64_t executed =
      uint64_t{alu.loop.iter_out} * alu.loop.iter_in * (alu.loop.uop_end - alu.loop.uop_begin);
  counters.alu_uops += executed;
  counters.alu_lanes += executed * uint64_t(pads.batch) * uint64_t(pads.block_out);
  kernels.alu(pads, pads.uops.data(), alu);
}

void FunctionalSimulator::State::reject(uint32_t index, uint64_t word, uint64_t count) const {
  if (layout.wide && layout.version.get(&word) != 1) {
    fail(index, "", "instruction version " + std::to_string(layout.version.get(&word)) + " is unknown",
         "the wide instruction set has version 1");
  }
  const uint64_t op = word & 7;
  if (op == uint64_t(Opcode::kFinish)) {
    fail(index, "FINISH", std::to_string(count - index - 1) + " instructions follow it",
         "FINISH must be the last");
  }
  if (op > uint64_t(Opcode::kAlu)) fail(index, "", "opcode " + std::to_string(op) + " is unknown");
  fail(index, op == uint64_t(Opcode::kLoad) ? "LOAD" : "STORE",
       "memory_type " + std::to_string(layout.memory.memory_type.get(&word)) + " is unknown");
}

// Splits the stream into the queues; everything that does not depend on execution is checked here.
void FunctionalSimulator::State::fetch(uint64_t count) {
  // Queue by opcode + 8 * (memory type): UOP and ACC loads go to compute, INP and WGT to load.
  uint8_t route[64];
  for (int type = 0; type < 8; ++type) {
    uint8_t* row = route + type * 8;
    std::fill(row, row + 8, uint8_t(kQueues));
    if (type <= int(MemoryType::kAccumulator8)) {
      const bool early = type == int(MemoryType::kInput) || type == int(MemoryType::kWeight);
      row[int(Opcode::kLoad)] = early ? kLoadQueue : kComputeQueue;
      row[int(Opcode::kStore)] = kStoreQueue;
    }
    row[int(Opcode::kGemm)] = row[int(Opcode::kAlu)] = kComputeQueue;
  }
  for (std::vector<uint32_t>& indices : queue) {
    if (indices.size() < count) indices.resize(count);
  }
  // Every index goes to all three queues and each queue keeps it or not: no branch, no memory in the chain.
  uint32_t *to_load = queue[kLoadQueue].data(), *to_compute = queue[kComputeQueue].data();
  uint32_t* to_store = queue[kStoreQueue].data();
  const BitField type = layout.memory.memory_type;
  const std::byte* p = dram.data() + stream_begin;
  for (uint64_t i = 0; i + 1 < count; ++i, p += words * 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    const uint8_t q = route[(word & 7) | type.get(&word) << 3];
    if (q >= kQueues || (layout.wide && layout.version.get(&word) != 1)) [[unlikely]] {
      reject(uint32_t(i), word, count);
    }
    *to_load = *to_compute = *to_store = uint32_t(i);
    to_load += q == kLoadQueue;
    to_compute += q == kComputeQueue;
    to_store += q == kStoreQueue;
  }
  uint64_t last = 0;
  if (count > 0) std::memcpy(&last, dram.data() + stream_end - words * 8, 8);
  if (count > 0 && layout.wide && layout.version.get(&last) != 1) reject(uint32_t(count - 1), last, count);
  if (count == 0 || (last & 7) != uint64_t(Opcode::kFinish)) {
    throw Error(ErrorKind::kInvalidInput,
                "the program of " + std::to_string(count) + " instructions has no FINISH",
                "end it with FINISH");
  }
  *to_compute++ = uint32_t(count - 1);
  length[kLoadQueue] = size_t(to_load - queue[kLoadQueue].data());
  length[kComputeQueue] = size_t(to_compute - queue[kComputeQueue].data());
  length[kStoreQueue] = size_t(to_store - queue[kStoreQueue].data());
  std::fill(std::begin(head), std::end(head), 0);
}

// Runs the instructions of one queue until one has to wait. Returns whether any ran.
template <Queue kQueue>
bool FunctionalSimulator::State::advance() {
  constexpr Wiring kWires = kWiring[kQueue];
  constexpr uint64_t kPopPrev = 1 << 3, kPopNext = 1 << 4, kPushPrev = 1 << 5, kPushNext = 1 << 6;
  const uint32_t* const mine = queue[kQueue].data();
  const size_t end = length[kQueue];
  const size_t first = head[kQueue];
  size_t next = first;
  uint64_t buffer[IsaLayout::kMaxWords];
  for (; next < end; ++next) {
    const uint32_t index = mine[next];
    const uint64_t* in = read(index, buffer);
    const uint64_t bits = in[0];
    if constexpr (kWires.pop_prev != kNoChannel) {
      if ((bits & kPopPrev) != 0 && tokens[kWires.pop_prev] == 0) break;
    }
    if constexpr (kWires.pop_next != kNoChannel) {
      if ((bits & kPopNext) != 0 && tokens[kWires.pop_next] == 0) break;
    }
    if constexpr (kWires.pop_prev != kNoChannel) tokens[kWires.pop_prev] -= (bits & kPopPrev) != 0;
    if constexpr (kWires.pop_next != kNoChannel) tokens[kWires.pop_next] -= (bits & kPopNext) != 0;
    if constexpr (kQueue == kComputeQueue) {
      const uint64_t op = bits & 7;
      if (op == uint64_t(Opcode::kGemm)) {
        execute_gemm(index, in);
      } else if (op == uint64_t(Opcode::kAlu)) {
        execute_alu(index, in);
      } else if (op == uint64_t(Opcode::kLoad)) {
        execute_memory(index, in);
      }
    } else {
      const bool done =
          kQueue == kLoadQueue && (words == 2 ? load_input_row<false>(in) : load_input_row<true>(in));
      if (!done) execute_memory(index, in);
    }
    if constexpr (kWires.push_prev != kNoChannel) tokens[kWires.push_prev] += (bits & kPushPrev) != 0;
    if constexpr (kWires.push_next != kNoChannel) tokens[kWires.push_next] += (bits & kPushNext) != 0;
  }
  head[kQueue] = next;
  return next != first;
}

void FunctionalSimulator::State::report_deadlock() const {
  std::vector<Diagnostic> problems;
  for (int q = 0; q < kQueues; ++q) {
    if (head[q] == length[q]) continue;
    const uint32_t index = queue[q][head[q]];
    uint64_t buffer[IsaLayout::kMaxWords];
    const uint64_t* in = read(index, buffer);
    const bool waits_prev =
        layout.pop_prev.get(in) != 0 && kWiring[q].pop_prev != kNoChannel && tokens[kWiring[q].pop_prev] == 0;
    const Channel channel = waits_prev ? kWiring[q].pop_prev : kWiring[q].pop_next;
    problems.push_back({ErrorKind::kInvalidInput, "instruction " + std::to_string(index),
                        std::string(kQueueNames[q]) + " queue",
                        std::string("deadlock: it waits for a token on ") + kChannelNames[channel] +
                            " that nothing will push; " + std::to_string(length[q] - head[q]) +
                            " instructions are left in this queue",
                        "check the push and pop bits of both modules"});
  }
  throw Error(std::move(problems));
}

void FunctionalSimulator::State::run() {
  for (;;) {
    const bool loaded = advance<kLoadQueue>();
    const bool computed = advance<kComputeQueue>();
    const bool stored = advance<kStoreQueue>();
    if (head[kLoadQueue] == length[kLoadQueue] && head[kComputeQueue] == length[kComputeQueue] &&
        head[kStoreQueue] == length[kStoreQueue]) {
      return;
    }
    if (!loaded && !computed && !stored) report_deadlock();
  }
}

FunctionalSimulator::FunctionalSimulator(OverlayHardware hardware, SimulatorKernel kernel)
    : state_(std::make_unique<State>(std::move(hardware), kernel)) {}

FunctionalSimulator::~FunctionalSimulator() = default;

RunCounters FunctionalSimulator::run(std::span<std::byte> dram, uint64_t address, uint64_t count) {
  State& s = *state_;
  const uint64_t bytes = s.words * 8;
  if (address > dram.size() || count > (dram.size() - address) / bytes || count > UINT32_MAX) {
    throw Error(ErrorKind::kInvalidInput, std::to_string(count) + " instructions at byte " +
                                              std::to_string(address) + " do not fit in a memory of " +
                                              std::to_string(dram.size()) + " bytes");
  }
  s.dram = dram;
  s.input_bytes = uint64_t(s.hardware.input_bytes());
  s.dram_inputs = dram.size() / s.input_bytes;
  s.stream_begin = address;
  s.stream_end = address + count * bytes;
  s.counters = RunCounters{};
  std::fill(std::begin(s.tokens), std::end(s.tokens), 0);
  s.fetch(count);
  s.run();
  s.counters.instructions = count;
  return s.counters;
}

}  // namespace tilewright::overlay
