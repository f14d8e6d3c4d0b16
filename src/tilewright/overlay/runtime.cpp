// Instruction words are written in place from precomputed field positions; nothing is allocated per
// instruction but the doubling of the buffer.
#include "tilewright/overlay/runtime.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright::overlay {
namespace {

[[noreturn, gnu::noinline]] void field_overflow(const char* name, int64_t value, int width) {
  throw Error(ErrorKind::kInternal, "instruction field " + std::string(name) + " cannot hold " +
                                        std::to_string(value) + " in " + std::to_string(width) + " bits");
}

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

// Whether running part of the micro-ops over all iterations, then the rest, gives the same result as
// interleaving them.
bool order_free(const MicroKernel& kernel) {
  if (kernel.outer.extent == 1 && kernel.inner.extent == 1) return true;
  if (!kernel.is_alu) {
    return std::none_of(kernel.uops.begin(), kernel.uops.end(), [](const MicroOp& u) { return u.overwrite; });
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

}  // namespace

Runtime::Runtime(const OverlayHardware& hardware) : hardware_(hardware), fields_(hardware) {
  cache_depth_ = uint32_t(hardware.uop_depth());
  words_.resize(1024);
  std::fill(std::begin(last_), std::end(last_), int64_t{-1});
}

inline void Runtime::put(uint64_t* words, FieldPosition field, uint64_t value, const char* name) {
  if ((value >> field.width) != 0) [[unlikely]] {
    field_overflow(name, int64_t(value), field.width);
  }
  words[field.word] |= value << field.shift;
}

inline void Runtime::put_signed(uint64_t* words, FieldPosition field, int64_t value, const char* name) {
  const int64_t limit = int64_t{1} << (field.width - 1);
  if (value < -limit || value >= limit) [[unlikely]] {
    field_overflow(name, value, field.width);
  }
  words[field.word] |= (uint64_t(value) & ((uint64_t{1} << field.width) - 1)) << field.shift;
}

inline uint64_t* Runtime::append(Stage stage, uint64_t opcode) {
  const size_t size = size_t(count_) * size_t(fields_.words);
  if (size + 4 > words_.size()) [[unlikely]] {
    words_.resize(words_.size() * 2);
  }
  uint64_t* words = words_.data() + size;
  words[0] = opcode | fields_.header | pending_[int(stage)];
  for (int i = 1; i < fields_.words; ++i) words[i] = 0;
  pending_[int(stage)] = 0;
  last_[int(stage)] = int64_t(count_++);
  return words;
}

uint64_t* Runtime::last_of(Stage stage) {
  const int64_t index = last_[int(stage)];
  return index < 0 ? nullptr : words_.data() + size_t(index) * size_t(fields_.words);
}

void Runtime::emit_nop(Stage stage) {
  const auto type = stage == Stage::kLoad      ? MemoryType::kInput
                    : stage == Stage::kCompute ? MemoryType::kUop
                                               : MemoryType::kOutput;
  uint64_t* words =
      append(stage, stage == Stage::kStore ? uint64_t(Opcode::kStore) : uint64_t(Opcode::kLoad));
  put(words, fields_.memory_type, uint64_t(type), "memory_type");
  ++statistics_.nops;
}

inline void Runtime::write_transfer(uint64_t* words, MemoryType type, uint32_t sram,
                                    const Transfer2D& transfer) {
  put(words, fields_.memory_type, uint64_t(type), "memory_type");
  put(words, fields_.sram_base, sram, "sram_base");
  put(words, fields_.dram_base, uint64_t(transfer.dram_element), "dram_base");
  put(words, fields_.y_size, transfer.y_size, "y_size");
  put(words, fields_.x_size, transfer.x_size, "x_size");
  put(words, fields_.x_stride, transfer.x_stride, "x_stride");
}

void Runtime::load_buffer_2d(MemoryType type, uint32_t sram, const Transfer2D& transfer) {
  const bool compute =
      type == MemoryType::kUop || type == MemoryType::kAccumulator || type == MemoryType::kAccumulator8;
  uint64_t* words = append(compute ? Stage::kCompute : Stage::kLoad, uint64_t(Opcode::kLoad));
  write_transfer(words, type, sram, transfer);
  if ((transfer.x_pad_before | transfer.x_pad_after | transfer.y_pad_before | transfer.y_pad_after) == 0)
    return;
  put(words, fields_.y_pad_0, transfer.y_pad_before, "y_pad_0");
  put(words, fields_.y_pad_1, transfer.y_pad_after, "y_pad_1");
  put(words, fields_.x_pad_0, transfer.x_pad_before, "x_pad_0");
  put(words, fields_.x_pad_1, transfer.x_pad_after, "x_pad_1");
  if (transfer.pad_value != 0) put_signed(words, fields_.pad_value, transfer.pad_value, "pad_value");
}

void Runtime::store_buffer_2d(uint32_t sram, const Transfer2D& transfer) {
  write_transfer(append(Stage::kStore, uint64_t(Opcode::kStore)), MemoryType::kOutput, sram, transfer);
}

void Runtime::append_uop(const MicroOp& uop) {
  uint64_t word = 0;
  put(&word, fields_.uop_dst, uop.dst, "micro-op dst");
  put(&word, fields_.uop_src, uop.src, "micro-op src");
  put(&word, fields_.uop_wgt, uop.wgt, "micro-op wgt");
  if (uop.overwrite) put(&word, fields_.uop_overwrite, 1, "micro-op overwrite");
  image_.push_back(uint32_t(word));
  if (fields_.uop_words32 == 2) image_.push_back(uint32_t(word >> 32));
}

void Runtime::encode_loop(const MicroKernel& kernel, uint64_t* words) {
  put(words, fields_.iter_out, kernel.outer.extent, "iter_out");
  put(words, fields_.iter_in, kernel.inner.extent, "iter_in");
  if (kernel.is_alu) {
    words[0] |= uint64_t(Opcode::kAlu);
    put(words, fields_.alu_dst_out, kernel.outer.dst, "dst_factor_out");
    put(words, fields_.alu_dst_in, kernel.inner.dst, "dst_factor_in");
    put(words, fields_.alu_src_out, kernel.outer.src, "src_factor_out");
    put(words, fields_.alu_src_in, kernel.inner.src, "src_factor_in");
    put(words, fields_.alu_opcode, uint64_t(kernel.opcode), "alu_opcode");
    put(words, fields_.use_imm, kernel.use_imm, "use_imm");
    put_signed(words, fields_.imm, kernel.imm, "imm");
    if (fields_.clip_low.width != 0) {
      put_signed(words, fields_.clip_low, kernel.clip_low, "clip_low");
      put_signed(words, fields_.clip_high, kernel.clip_high, "clip_high");
    }
    return;
  }
  words[0] |= uint64_t(Opcode::kGemm);
  put(words, fields_.reset, kernel.reset, "reset_reg");
  put(words, fields_.gemm_dst_out, kernel.outer.dst, "dst_factor_out");
  put(words, fields_.gemm_dst_in, kernel.inner.dst, "dst_factor_in");
  put(words, fields_.gemm_src_out, kernel.outer.src, "src_factor_out");
  put(words, fields_.gemm_src_in, kernel.inner.src, "src_factor_in");
  put(words, fields_.gemm_wgt_out, kernel.outer.wgt, "wgt_factor_out");
  put(words, fields_.gemm_wgt_in, kernel.inner.wgt, "wgt_factor_in");
}

KernelHandle Runtime::record(const MicroKernel& kernel) {
  TILEWRIGHT_CHECK(!kernel.uops.empty(), "a kernel needs at least one micro-op");
  TILEWRIGHT_CHECK(kernel.outer.extent > 0 && kernel.inner.extent > 0, "a kernel with an empty loop");
  const uint32_t limit = std::min<uint32_t>(std::max<uint32_t>(cache_depth_ / 2, 1), 65535);
  const uint32_t total = uint32_t(kernel.uops.size());
  if (total > limit && !order_free(kernel)) {
    throw Error(ErrorKind::kInfeasible,
                "a micro-kernel of " + std::to_string(total) + " micro-ops does not fit half the cache of " +
                    std::to_string(cache_depth_) + " and cannot be split",
                "use smaller tiles");
  }
  const uint32_t part_count = (total + limit - 1) / limit;
  const uint32_t part_size = (total + part_count - 1) / part_count;
  Part part;
  part.words[0] = fields_.header;
  encode_loop(kernel, part.words);
  kernels_.push_back({uint32_t(parts_.size()), part_count});
  for (uint32_t begin = 0; begin < total; begin += part_size) {
    part.image_offset = uint32_t(image_.size() / size_t(fields_.uop_words32));
    part.size = std::min(part_size, total - begin);
    for (uint32_t i = 0; i < part.size; ++i) append_uop(kernel.uops[begin + i]);
    parts_.push_back(part);
  }
  return KernelHandle(kernels_.size() - 1);
}

void Runtime::make_resident(Part& part) {
  if (cache_cursor_ + part.size > cache_depth_) {
    // Everything behind the cursor is from the previous lap: it goes before the ring starts again.
    while (!resident_.empty() && parts_[resident_.front()].cache_begin >= cache_cursor_) {
      parts_[resident_.front()].resident = false;
      resident_.pop_front();
      ++statistics_.evictions;
    }
    cache_cursor_ = 0;
  }
  const uint32_t begin = cache_cursor_, end = begin + part.size;
  while (!resident_.empty()) {
    Part& oldest = parts_[resident_.front()];
    if (oldest.cache_begin >= end || oldest.cache_begin + oldest.size <= begin) break;
    oldest.resident = false;
    resident_.pop_front();
    ++statistics_.evictions;
  }
  uop_load_positions_.push_back(count_);
  load_buffer_2d(MemoryType::kUop, begin,
                 {.dram_element = part.image_offset, .x_size = part.size, .x_stride = part.size});
  ++statistics_.uop_loads;
  statistics_.uop_reloads += part.ever_loaded;
  statistics_.uops_loaded += part.size;
  part.cache_begin = begin;
  part.resident = part.ever_loaded = true;
  resident_.push_back(uint32_t(&part - parts_.data()));
  cache_cursor_ = end;
}

void Runtime::push(KernelHandle handle) {
  const Kernel kernel = kernels_[handle];
  for (uint32_t i = 0; i < kernel.part_count; ++i) {
    Part& part = parts_[kernel.first_part + i];
    if (!part.resident) make_resident(part);
    uint64_t* words = append(Stage::kCompute, part.words[0]);
    for (int w = 1; w < fields_.words; ++w) words[w] = part.words[w];
    words[fields_.uop_begin.word] |= uint64_t(part.cache_begin) << fields_.uop_begin.shift;
    words[fields_.uop_end.word] |= uint64_t(part.cache_begin + part.size) << fields_.uop_end.shift;
  }
}

void Runtime::dep_push(Stage from, Stage to) {
  const bool next = int(to) > int(from);
  TILEWRIGHT_CHECK(std::abs(int(to) - int(from)) == 1, "tokens pass between neighbouring stages only");
  const uint64_t bit = next ? FieldPositions::kPushNext : FieldPositions::kPushPrev;
  uint64_t* words = last_of(from);
  if (words == nullptr || (words[0] & bit) != 0 || pending_[int(from)] != 0) {
    emit_nop(from);
    words = last_of(from);
  }
  words[0] |= bit;
}

void Runtime::dep_pop(Stage from, Stage to) {
  TILEWRIGHT_CHECK(std::abs(int(to) - int(from)) == 1, "tokens pass between neighbouring stages only");
  const uint64_t bit = int(from) < int(to) ? FieldPositions::kPopPrev : FieldPositions::kPopNext;
  if ((pending_[int(to)] & bit) != 0) emit_nop(to);
  pending_[int(to)] |= bit;
}

RuntimeOutput Runtime::synchronize(uint64_t uop_image_address) {
  TILEWRIGHT_CHECK(uop_image_address % uint64_t(hardware_.uop_bytes()) == 0, "misaligned micro-op image");
  for (const Stage stage : {Stage::kLoad, Stage::kStore}) {
    dep_push(stage, Stage::kCompute);
    dep_pop(stage, Stage::kCompute);
  }
  emit_nop(Stage::kCompute);
  append(Stage::kCompute, uint64_t(Opcode::kFinish));

  const uint64_t base = uop_image_address / uint64_t(hardware_.uop_bytes());
  for (const uint64_t index : uop_load_positions_) {
    uint64_t& word = words_[size_t(index) * size_t(fields_.words) + fields_.dram_base.word];
    const uint64_t mask = ((uint64_t{1} << fields_.dram_base.width) - 1) << fields_.dram_base.shift;
    const uint64_t address = base + ((word & mask) >> fields_.dram_base.shift);
    word = (word & ~mask) | (address << fields_.dram_base.shift);
  }
  RuntimeOutput output;
  output.statistics = statistics_;
  output.statistics.instructions = count_;
  output.instructions.resize(size_t(count_) * size_t(fields_.words) * 8);
  std::memcpy(output.instructions.data(), words_.data(), output.instructions.size());
  output.uops.resize(image_.size() * 4);
  if (!image_.empty()) std::memcpy(output.uops.data(), image_.data(), output.uops.size());
  *this = Runtime(hardware_);
  return output;
}

}  // namespace tilewright::overlay
