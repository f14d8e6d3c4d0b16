#include "public_runtime.h"

#include <algorithm>

namespace tilewright::overlay {

template <typename T>
void PublicRuntime::create(PublicStage stage, T instruction, PublicStage can_push) {
  instruction.dependencies = pending_[stage];
  pending_[stage] = {};
  stream_.push_back(instruction);
  last_ = can_push;
}

void PublicRuntime::no_operation(PublicStage stage, const Dependencies& dependencies) {
  MemoryInstruction nothing;
  nothing.is_store = stage == kStoreStage;
  nothing.memory_type = stage == kLoadStage ? MemoryType::kInput : MemoryType::kUop;
  nothing.dependencies = dependencies;
  stream_.push_back(nothing);
  // A LOAD of nothing takes no pushes; a STORE is not looked at that closely.
  last_ = stage == kStoreStage ? kStoreStage : kNoStage;
  ++no_operations_;
}

void PublicRuntime::commit_pops(PublicStage stage) {
  if (pending_[stage] == Dependencies{}) return;
  no_operation(stage, pending_[stage]);
  pending_[stage] = {};
}

void PublicRuntime::load(const MemoryInstruction& instruction) {
  const bool early =
      instruction.memory_type == MemoryType::kInput || instruction.memory_type == MemoryType::kWeight;
  const PublicStage stage = early ? kLoadStage : kComputeStage;
  create(stage, instruction, instruction.x_size == 0 || instruction.y_size == 0 ? kNoStage : stage);
}

void PublicRuntime::store(const MemoryInstruction& instruction) {
  create(kStoreStage, instruction, kStoreStage);
}

// A ring in the micro-op scratchpad; kernels that a new one overlaps are forgotten.
uint32_t PublicRuntime::place(const PublicKernel& kernel) {
  const std::vector<MicroOp>& uops = kernel.uops;
  const Reads reads = kernel.reset || (kernel.alu && kernel.use_imm) ? Reads::kDestinations
                      : kernel.alu                                   ? Reads::kDestinationsAndSources
                                                                     : Reads::kAll;
  for (const Cached& cached : cache_) {
    if (cached.reads == reads && cached.uops == uops) return cached.begin;
  }
  const uint32_t size = uint32_t(uops.size());
  if (cursor_ + size > uint32_t(hardware_.uop_depth())) cursor_ = 0;
  const uint32_t begin = cursor_;
  std::erase_if(cache_,
                [&](const Cached& c) { return c.begin < begin + size && begin < c.begin + c.uops.size(); });
  cache_.push_back({reads, uops, begin});
  cursor_ += size;
  MemoryInstruction load_uops;
  load_uops.memory_type = MemoryType::kUop;
  load_uops.sram_base = begin;
  load_uops.dram_base = uop_base_ + uint32_t(image_.size());
  load_uops.y_size = 1;
  load_uops.x_size = load_uops.x_stride = size;
  image_.insert(image_.end(), uops.begin(), uops.end());
  image_reads_.resize(image_.size(), reads);
  load(load_uops);
  return begin;
}

void PublicRuntime::push(const PublicKernel& kernel) {
  LoopNest nest;
  nest.uop_begin = place(kernel);
  nest.uop_end = nest.uop_begin + uint32_t(kernel.uops.size());
  // One loop is the outer one of a GEMM and the inner one of an ALU instruction.
  const bool inner_only = kernel.alu && kernel.loops.size() == 1;
  const PublicKernel::Loop none;
  const PublicKernel::Loop& outer = kernel.loops.empty() || inner_only ? none : kernel.loops[0];
  const PublicKernel::Loop& inner = inner_only                ? kernel.loops[0]
                                    : kernel.loops.size() > 1 ? kernel.loops[1]
                                                              : none;
  nest.iter_out = outer.extent;
  nest.iter_in = inner.extent;
  nest.dst_factor_out = outer.dst;
  nest.dst_factor_in = inner.dst;
  nest.src_factor_out = outer.src;
  nest.src_factor_in = inner.src;
  if (kernel.alu) {
    AluInstruction alu;
    alu.loop = nest;
    alu.opcode = kernel.opcode;
    alu.use_imm = kernel.use_imm;
    alu.imm = kernel.imm;
    return create(kComputeStage, alu, kComputeStage);
  }
  GemmInstruction gemm;
  nest.wgt_factor_out = outer.wgt;
  nest.wgt_factor_in = inner.wgt;
  gemm.loop = nest;
  gemm.reset = kernel.reset;
  create(kComputeStage, gemm, kComputeStage);
}

void PublicRuntime::dep_pop(PublicStage from, PublicStage to) {
  bool Dependencies::*const bit = from < to ? &Dependencies::pop_prev : &Dependencies::pop_next;
  if (pending_[to].*bit) commit_pops(to);
  pending_[to].*bit = true;
}

void PublicRuntime::dep_push(PublicStage from, PublicStage to) {
  commit_pops(from);
  bool Dependencies::*const bit = from < to ? &Dependencies::push_next : &Dependencies::push_prev;
  if (last_ == from) {
    Dependencies& last = std::visit([](auto& i) -> Dependencies& { return i.dependencies; }, stream_.back());
    if (!(last.*bit)) {
      last.*bit = true;
      return;
    }
  }
  Dependencies push;
  push.*bit = true;
  no_operation(from, push);
}

std::vector<MicroOp> PublicRuntime::uops_with_random_dont_cares(Random& random) const {
  std::vector<MicroOp> uops = image_;
  const auto draw = [&](int64_t depth) { return uint32_t(random.between(0, depth - 1)); };
  for (size_t i = 0; i < uops.size(); ++i) {
    if (image_reads_[i] == Reads::kAll) continue;
    uops[i].wgt = draw(hardware_.weight_depth());
    if (image_reads_[i] == Reads::kDestinations) {
      uops[i].src = draw(std::max(hardware_.accumulator_depth(), hardware_.input_depth()));
    }
  }
  return uops;
}

void PublicRuntime::synchronize() {
  dep_push(kStoreStage, kComputeStage);
  dep_push(kLoadStage, kComputeStage);
  dep_pop(kLoadStage, kComputeStage);
  dep_pop(kStoreStage, kComputeStage);
  commit_pops(kComputeStage);
  stream_.push_back(FinishInstruction{});
}

}  // namespace tilewright::overlay
