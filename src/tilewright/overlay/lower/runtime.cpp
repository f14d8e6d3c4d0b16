// Instruction words are written in place at precomputed field positions; nothing is allocated or copied per
// instruction.
#include "tilewright/overlay/lower/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/time/compute_timing.h"

namespace tilewright::overlay {
namespace {

// Smallest and largest index that the micro-ops reach over both loops.
struct Reach {
  uint64_t low = ~uint64_t{0}, high = 0;
  void add(uint64_t index, uint64_t span) {
    low = std::min(low, index);
    high = std::max(high, index + span);
  }
};

uint64_t loop_span(const MicroKernel& kernel, uint32_t MicroKernel::Loop::*factor) {
  return uint64_t(kernel.outer.extent - 1) * (kernel.outer.*factor) +
         uint64_t(kernel.inner.extent - 1) * (kernel.inner.*factor);
}

// Whether no two iterations of the loops write the same destination.
bool iterations_are_disjoint(const MicroKernel& kernel) {
  std::vector<uint32_t> destinations;
  for (const MicroOp& uop : kernel.uops) destinations.push_back(uop.dst);
  std::sort(destinations.begin(), destinations.end());
  destinations.erase(std::unique(destinations.begin(), destinations.end()), destinations.end());
  std::vector<bool> taken;
  for (uint32_t y = 0; y < kernel.outer.extent; ++y) {
    for (uint32_t x = 0; x < kernel.inner.extent; ++x) {
      for (const uint32_t destination : destinations) {
        const size_t at = size_t(destination) + size_t(y) * kernel.outer.dst + size_t(x) * kernel.inner.dst;
        if (at >= taken.size()) taken.resize(at + 1, false);
        if (taken[at]) return false;
        taken[at] = true;
      }
    }
  }
  return true;
}

// Whether running part of the micro-ops over all iterations, then the rest, gives the same result as
// interleaving them.
bool order_free(const MicroKernel& kernel) {
  if (kernel.is_alu && works_on_rows(kernel.opcode)) return false;
  if (kernel.outer.extent == 1 && kernel.inner.extent == 1) return true;
  if (!kernel.is_alu) {
    const bool overwrites =
        std::any_of(kernel.uops.begin(), kernel.uops.end(), [](const MicroOp& u) { return u.overwrite; });
    return !overwrites || iterations_are_disjoint(kernel);
  }
  if (kernel.use_imm) {
    return std::all_of(kernel.uops.begin(), kernel.uops.end(),
                       [](const MicroOp& u) { return u.src == u.dst; });
  }
  Reach dst, src;
  for (const MicroOp& uop : kernel.uops) {
    dst.add(uop.dst, loop_span(kernel, &MicroKernel::Loop::dst));
    src.add(uop.src, loop_span(kernel, &MicroKernel::Loop::src) + 2);
  }
  return src.high < dst.low || dst.high < src.low;
}

Queue queue_of(Stage stage) { return Queue(int(stage) - 1); }

uint32_t checked_dram_element(int64_t element) {
  TILEWRIGHT_CHECK(element >= 0 && element <= int64_t{0xffffffff}, "a DRAM element beyond 32 bits");
  return uint32_t(element);
}

}  // namespace

int64_t measured_at(RunMeasure measure, int64_t position, int64_t block) {
  const int64_t lines = position + 1, blocks = ceil_div(lines, block);
  switch (measure) {
    case RunMeasure::kPosition:
      return position;
    case RunMeasure::kLines:
      return lines;
    case RunMeasure::kBlocks:
      return blocks;
    case RunMeasure::kPadding:
      return blocks * block - lines;
    case RunMeasure::kLastLanes:
      break;
  }
  return lines - (blocks - 1) * block;
}

std::vector<std::pair<uint32_t, uint32_t>> split_kernel(const OverlayHardware& hardware, uint32_t uops) {
  const uint32_t limit = std::min<uint32_t>(std::max<uint32_t>(uint32_t(hardware.uop_depth()) / 2, 1), 65535);
  const uint32_t count = ceil_div(uops, limit);
  std::vector<std::pair<uint32_t, uint32_t>> parts;
  for (uint32_t i = 0; i < count; ++i) {
    const auto begin = uint32_t(uint64_t(uops) * i / count), end = uint32_t(uint64_t(uops) * (i + 1) / count);
    parts.push_back({begin, end - begin});
  }
  return parts;
}

Runtime::Runtime(const OverlayHardware& hardware) : hardware_(hardware), layout_(hardware) {
  cache_depth_ = uint32_t(hardware.uop_depth());
}

Runtime::Runtime(const OverlayHardware& hardware, TimedProgram& timed) : Runtime(hardware) {
  timed_ = &timed;
}

inline uint64_t* Runtime::append(Stage stage) {
  last_[int(stage)] = instructions_.size_words();
  ++count_;
  return instructions_.append(size_t(layout_.words));
}

// The pops that the next instruction of a stage has to do, as bits of its word 0.
inline uint8_t Runtime::take_pending(Stage stage) {
  bool* pending = pending_[int(stage)];
  const uint64_t bits = (pending[0] ? kPopPrev : 0) | (pending[1] ? kPopNext : 0);
  pending[0] = pending[1] = false;
  return uint8_t(bits);
}

// What encoding the instruction would complain about. Nearly all fit the narrower fields of the two
// encodings.
inline void Runtime::check_fields(const MemoryInstruction& i) const {
  if ((i.sram_base | i.x_size | i.y_size | i.x_stride) <= 0xffff &&
      (i.y_pad_0 | i.y_pad_1 | i.x_pad_0 | i.x_pad_1) <= 0xf && i.pad_value == 0) {
    return;
  }
  uint64_t words[IsaLayout::kMaxWords];
  layout_.encode(i, words);
}

inline void Runtime::emit(Stage stage, MemoryInstruction& instruction) {
  if (timed_ != nullptr) {
    check_fields(instruction);
    const IsaOpcode opcode = instruction.is_store ? IsaOpcode::kStore : IsaOpcode::kLoad;
    timed_->append(queue_of(stage), uint8_t(uint8_t(opcode) | take_pending(stage)), instruction);
    ++count_;
    return;
  }
  bool* pending = pending_[int(stage)];
  instruction.dependencies.pop_prev = pending[0];
  instruction.dependencies.pop_next = pending[1];
  pending[0] = pending[1] = false;
  layout_.encode(instruction, append(stage));
}

void Runtime::emit_nop(Stage stage) {
  MemoryInstruction nop;
  nop.is_store = stage == Stage::kStore;
  nop.memory_type = stage == Stage::kLoad      ? MemoryType::kInput
                    : stage == Stage::kCompute ? MemoryType::kUop
                                               : MemoryType::kOutput;
  emit(stage, nop);
  ++statistics_.nops;
}

void Runtime::load_buffer_2d(MemoryType type, uint32_t sram, const Transfer2D& transfer) {
  MemoryInstruction load;
  load.memory_type = type;
  load.sram_base = sram;
  load.dram_base = checked_dram_element(transfer.dram_element);
  load.y_size = transfer.y_size;
  load.x_size = transfer.x_size;
  load.x_stride = transfer.x_stride;
  load.y_pad_0 = transfer.y_pad_before;
  load.y_pad_1 = transfer.y_pad_after;
  load.x_pad_0 = transfer.x_pad_before;
  load.x_pad_1 = transfer.x_pad_after;
  load.pad_value = transfer.pad_value;
  emit(loads_early(type) ? Stage::kLoad : Stage::kCompute, load);
  vary(transfer);
}

void Runtime::store_buffer_2d(uint32_t sram, const Transfer2D& transfer) {
  MemoryInstruction store;
  store.is_store = true;
  store.memory_type = MemoryType::kOutput;
  store.sram_base = sram;
  store.dram_base = checked_dram_element(transfer.dram_element);
  store.y_size = transfer.y_size;
  store.x_size = transfer.x_size;
  store.x_stride = transfer.x_stride;
  emit(Stage::kStore, store);
  vary(transfer);
}

// Of the newest instruction.
void Runtime::vary(BitField field, RunMeasure measure, int64_t base, int64_t factor) {
  if (timed_ == nullptr) run_fields_.push_back({count_ - 1, field, measure, base, factor});
}

void Runtime::vary(const Transfer2D& transfer) {
  const IsaLayout::Memory& fields = layout_.memory;
  if (transfer.per_position != 0)
    vary(fields.dram_base, RunMeasure::kPosition, transfer.dram_element, transfer.per_position);
  if (transfer.visible_columns) vary(fields.x_size, RunMeasure::kBlocks, 0, 1);
  if (!transfer.visible_rows) return;
  vary(fields.y_size, RunMeasure::kLines, 0, 1);
  vary(fields.y_pad_1, RunMeasure::kPadding, 0, 1);
}

void Runtime::vary(const Part& part) {
  const IsaLayout::Loop& fields = part.is_alu ? layout_.alu : layout_.gemm;
  using Visible = MicroKernel::Visible;
  if (part.visible == Visible::kOuter) vary(fields.iter_out, RunMeasure::kBlocks, 0, 1);
  if (part.visible == Visible::kInner) vary(fields.iter_in, RunMeasure::kBlocks, 0, 1);
  if (part.visible == Visible::kMicroOps)
    vary(fields.uop_end, RunMeasure::kBlocks, part.cache_begin, part.of_block);
  if (part.visible_lanes) vary(layout_.imm, RunMeasure::kLastLanes, int64_t(part.imm) & ~int64_t{0xffff}, 1);
}

void Runtime::append_uop(const MicroOp& uop) {
  const uint64_t word = layout_.encode(uop);
  image_.push_back(uint32_t(word));
  if (layout_.wide) image_.push_back(uint32_t(word >> 32));
}

void Runtime::encode_kernel(const MicroKernel& kernel, uint64_t* words) {
  LoopNest loop;
  loop.iter_out = kernel.outer.extent;
  loop.iter_in = kernel.inner.extent;
  loop.dst_factor_out = kernel.outer.dst;
  loop.dst_factor_in = kernel.inner.dst;
  loop.src_factor_out = kernel.outer.src;
  loop.src_factor_in = kernel.inner.src;
  if (kernel.is_alu) {
    AluInstruction alu;
    alu.loop = loop;
    alu.opcode = kernel.opcode;
    alu.use_imm = kernel.use_imm;
    alu.imm = kernel.imm;
    alu.clip_low = kernel.clip_low;
    alu.clip_high = kernel.clip_high;
    layout_.encode(alu, words);
    return;
  }
  loop.wgt_factor_out = kernel.outer.wgt;
  loop.wgt_factor_in = kernel.inner.wgt;
  GemmInstruction gemm;
  gemm.loop = loop;
  gemm.reset = kernel.reset;
  gemm.bipolar = kernel.bipolar;
  gemm.beside_alu = kernel.beside_alu;
  layout_.encode(gemm, words);
}

TimedInstruction Runtime::time_kernel(const MicroKernel& kernel, uint32_t begin, uint32_t size) const {
  TimedInstruction timed;
  timed.bits = uint8_t(kernel.is_alu ? IsaOpcode::kAlu : IsaOpcode::kGemm);
  timed.beside_alu = kernel.beside_alu && hardware_.gemm_beside_alu;
  LoopNest loop;
  loop.uop_end = size;
  loop.iter_out = kernel.outer.extent;
  loop.iter_in = kernel.inner.extent;
  const auto slices = uint64_t(hardware_.alu_slices());
  if (!kernel.is_alu) {
    timed.duration = gemm_duration(step_count(loop));
  } else if (!requantizes(kernel.opcode)) {
    timed.duration = alu_duration(kernel.opcode, loop, slices);
  } else {
    loop.dst_factor_out = kernel.outer.dst;
    loop.dst_factor_in = kernel.inner.dst;
    loop.src_factor_out = kernel.outer.src;
    loop.src_factor_in = kernel.inner.src;
    timed.duration = requantize_duration(loop, std::span(kernel.uops).subspan(begin, size), slices,
                                         looks_up(kernel.opcode));
  }
  return timed;
}

KernelHandle Runtime::record(const MicroKernel& kernel) {
  TILEWRIGHT_CHECK(!kernel.uops.empty(), "a kernel needs at least one micro-op");
  TILEWRIGHT_CHECK(kernel.outer.extent > 0 && kernel.inner.extent > 0, "a kernel with an empty loop");
  const auto total = uint32_t(kernel.uops.size());
  const auto parts = split_kernel(hardware_, total);
  if (parts.size() > 1 && !order_free(kernel)) {
    throw Error(ErrorKind::kInfeasible,
                "a micro-kernel of " + std::to_string(total) + " micro-ops does not fit half the cache of " +
                    std::to_string(cache_depth_) + " and cannot be split",
                "use smaller tiles");
  }
  if (parts.size() > 1 && kernel.visible == MicroKernel::Visible::kMicroOps) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("a micro-kernel of {} micro-ops over the tokens before one does not fit half the "
                            "cache of {}",
                            total, cache_depth_),
                "shorten the network's window");
  }
  Part part;
  part.is_alu = kernel.is_alu;
  part.visible = kernel.visible;
  part.visible_lanes = kernel.visible_lanes;
  part.of_block = total / kernel.visible_blocks;
  part.imm = kernel.imm;
  encode_kernel(kernel, part.words);
  kernels_.push_back({uint32_t(parts_.size()), uint32_t(parts.size())});
  for (const auto& [begin, size] : parts) {
    part.image_offset = uint32_t(image_.size() / (layout_.wide ? 2 : 1));
    part.size = size;
    for (uint32_t i = 0; i < part.size; ++i) append_uop(kernel.uops[begin + i]);
    part.cache_begin = preloaded_ ? part.image_offset : 0;
    part.resident = preloaded_;
    if (timed_ != nullptr) part.timed = time_kernel(kernel, begin, size);
    parts_.push_back(part);
  }
  return KernelHandle(kernels_.size() - 1);
}

// Parts that follow each other in the image, to the next free place of the ring.
void Runtime::make_resident(std::span<Part> parts) {
  uint32_t size = 0;
  for (const Part& part : parts) size += part.size;
  if (cache_cursor_ + size > cache_depth_) {
    // Everything after the cursor is from the previous lap: it goes before the ring starts again.
    while (!resident_.empty() && parts_[resident_.front()].cache_begin >= cache_cursor_) {
      parts_[resident_.front()].resident = false;
      resident_.pop_front();
      ++statistics_.evictions;
    }
    cache_cursor_ = 0;
  }
  const uint32_t begin = cache_cursor_, end = begin + size;
  while (!resident_.empty()) {
    Part& oldest = parts_[resident_.front()];
    if (oldest.cache_begin >= end || oldest.cache_begin + oldest.size <= begin) break;
    oldest.resident = false;
    resident_.pop_front();
    ++statistics_.evictions;
  }
  load_buffer_2d(MemoryType::kUop, begin,
                 {.dram_element = parts[0].image_offset, .x_size = size, .x_stride = size});
  uop_loads_.push_back(timed_ != nullptr ? timed_->length(kComputeQueue) - 1 : last_[int(Stage::kCompute)]);
  ++statistics_.uop_loads;
  statistics_.uops_loaded += size;
  for (Part& part : parts) {
    statistics_.uop_reloads += part.ever_loaded;
    part.cache_begin = cache_cursor_;
    part.resident = part.ever_loaded = true;
    resident_.push_back(uint32_t(&part - parts_.data()));
    cache_cursor_ += part.size;
  }
}

void Runtime::prefetch(KernelHandle first) {
  constexpr uint64_t kMaxRow = 65535;
  if (first >= kernels_.size()) return;
  const std::span<Part> parts = std::span(parts_).subspan(kernels_[first].first_part);
  uint64_t size = 0;
  for (const Part& part : parts) {
    if (part.resident) return;
    size += part.size;
  }
  if (size <= std::min<uint64_t>(cache_depth_, kMaxRow)) make_resident(parts);
}

void Runtime::push(KernelHandle handle) {
  const Kernel kernel = kernels_[handle];
  for (uint32_t i = 0; i < kernel.part_count; ++i) {
    Part& part = parts_[kernel.first_part + i];
    if (!part.resident) make_resident({&part, 1});
    if (timed_ != nullptr) {
      TimedInstruction timed = part.timed;
      timed.bits |= take_pending(Stage::kCompute);
      timed_->append(timed);
      ++count_;
      continue;
    }
    uint64_t* words = append(Stage::kCompute);
    for (int w = 0; w < layout_.words; ++w) words[w] = part.words[w];
    const IsaLayout::Loop& fields = part.is_alu ? layout_.alu : layout_.gemm;
    fields.uop_begin.put(words, part.cache_begin);
    fields.uop_end.put(words, part.cache_begin + part.size);
    bool* pending = pending_[int(Stage::kCompute)];
    layout_.pop_prev.put(words, pending[0]);
    layout_.pop_next.put(words, pending[1]);
    pending[0] = pending[1] = false;
    vary(part);
  }
}

void Runtime::dep_push(Stage from, Stage to) {
  TILEWRIGHT_CHECK(std::abs(int(to) - int(from)) == 1, "tokens pass between neighbouring stages only");
  const BitField field = int(to) > int(from) ? layout_.push_next : layout_.push_prev;
  const bool* pending = pending_[int(from)];
  if (timed_ != nullptr) {
    const auto bit = uint8_t(int(to) > int(from) ? kPushNext : kPushPrev);
    const TimedInstruction* newest = timed_->last(queue_of(from));
    if (newest == nullptr || (newest->bits & bit) != 0 || pending[0] || pending[1]) emit_nop(from);
    timed_->last(queue_of(from))->bits |= bit;
    return;
  }
  const size_t last = last_[int(from)];
  if (last == kNone || field.get(instructions_.at(last)) != 0 || pending[0] || pending[1]) emit_nop(from);
  field.put(instructions_.at(last_[int(from)]), 1);
}

void Runtime::dep_pop(Stage from, Stage to) {
  TILEWRIGHT_CHECK(std::abs(int(to) - int(from)) == 1, "tokens pass between neighbouring stages only");
  bool& pending = pending_[int(to)][int(from) < int(to) ? 0 : 1];
  if (pending) emit_nop(to);
  pending = true;
}

// The closing tokens, but for FINISH.
void Runtime::close() {
  for (const Stage stage : {Stage::kLoad, Stage::kStore}) {
    dep_push(stage, Stage::kCompute);
    dep_pop(stage, Stage::kCompute);
  }
  emit_nop(Stage::kCompute);
}

void Runtime::synchronize_times(uint64_t uop_image_address) {
  TILEWRIGHT_CHECK(timed_ != nullptr, "a runtime of instruction bytes has no times");
  TILEWRIGHT_CHECK(uop_image_address % uint64_t(hardware_.uop_bytes()) == 0, "misaligned micro-op image");
  close();
  TimedInstruction finish;
  finish.bits = uint8_t(IsaOpcode::kFinish);
  timed_->append(finish);
  const uint64_t end = (uop_image_address + uop_image_bytes()) / uint64_t(hardware_.uop_bytes());
  TILEWRIGHT_CHECK(end <= layout_.memory.dram_base.mask(), "a micro-op address beyond its field");
  for (const size_t position : uop_loads_) timed_->move_transfer(position, uop_image_address);
}

RuntimeOutput Runtime::synchronize(uint64_t uop_image_address) {
  TILEWRIGHT_CHECK(timed_ == nullptr, "a runtime of times has no instruction bytes");
  TILEWRIGHT_CHECK(uop_image_address % uint64_t(hardware_.uop_bytes()) == 0, "misaligned micro-op image");
  close();
  layout_.encode(FinishInstruction{}, append(Stage::kCompute));

  const uint64_t base = uop_image_address / uint64_t(hardware_.uop_bytes());
  for (const size_t position : uop_loads_) {
    uint64_t* words = instructions_.at(position);
    const BitField field = layout_.memory.dram_base;
    const uint64_t address = base + field.get(words);
    TILEWRIGHT_CHECK(address <= field.mask(), "a micro-op address beyond its field");
    words[field.word] &= ~(field.mask() << field.shift);
    field.put(words, address);
  }
  RuntimeOutput output;
  output.statistics = statistics_;
  output.statistics.instructions = count_;
  output.instructions = std::move(instructions_);
  output.run_fields = std::move(run_fields_);
  output.uops.resize(image_.size() * 4);
  if (!image_.empty()) std::memcpy(output.uops.data(), image_.data(), output.uops.size());
  *this = Runtime(hardware_);
  return output;
}

}  // namespace tilewright::overlay
