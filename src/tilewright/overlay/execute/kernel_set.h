// The kernels of the functional simulator: one set per instruction set of the host CPU, all with identical
// results. They trust their arguments: every index has been checked against the scratchpad depths.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/overlay/execute/scratchpads.h"
#include "tilewright/overlay/isa/isa.h"
#include "tilewright/overlay/isa/uop_plan.h"

namespace tilewright::overlay {

// The scratchpad layout that kernels need.
struct KernelLayout {
  int input_quantum;      // input lanes are padded to a multiple of this
  int output_quantum;     // so are accumulator lanes
  int input_lane_bytes;   // of the input's kernel form
  int weight_lane_bytes;  // of the weight's kernel form
};

struct KernelSet {
  KernelLayout layout;
  // `count` elements from packed DRAM bytes.
  void (*load_inputs)(Scratchpads& pads, uint32_t index, const std::byte* source, size_t count);
  void (*fill_inputs)(Scratchpads& pads, uint32_t index, size_t count, int8_t value);
  // One element from block_out x block_in signed bytes; fills in its correction as well.
  void (*pack_weight)(Scratchpads& pads, uint32_t index, const int8_t* lanes);
  // Low output bits of `count` accumulators, packed.
  void (*store_outputs)(const Scratchpads& pads, uint32_t index, std::byte* target, size_t count);
  // Any order of the loop nest (UopPlan); destinations distinct where the plan overwrites.
  void (*gemm)(Scratchpads& pads, const UopPlan& plan, const LoopNest& loop);
  // One micro-op, for instructions of one iteration and for overwriting ones that must keep their order.
  void (*gemm_one)(Scratchpads& pads, uint32_t dst, uint32_t src, uint32_t wgt, bool overwrite);
  void (*gemm_reset)(Scratchpads& pads, const UopPlan& plan, const LoopNest& loop);
  void (*alu)(Scratchpads& pads, const MicroOp* uops, const AluInstruction& alu);
};

// KernelSet::load_inputs into every interpretation that the scratchpads keep.
inline void load_inputs(const KernelSet& kernels, Scratchpads& pads, uint32_t index, const std::byte* source,
                        size_t count) {
  for_each_reading(pads, [&] { kernels.load_inputs(pads, index, source, count); });
}

extern const KernelSet kPortableKernels;
// Null where this build or this CPU cannot run them.
const KernelSet* avx2_kernels();
const KernelSet* avx512_vnni_kernels();

}  // namespace tilewright::overlay
