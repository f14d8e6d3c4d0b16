// How fast a layer can be on an overlay: whatever its schedule, and under one schedule. Both are closed forms
// that no program can beat on the cycle simulator, so search may leave out what they exclude.
#pragma once

#include <cstdint>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

// Each tensor crosses the memory port once, each micro-op runs once, and nothing waits.
struct LayerBound {
  int64_t gemm_steps = 0;   // multiply-accumulate micro-ops
  int64_t reset_steps = 0;  // micro-ops that only clear accumulators
  int64_t alu_steps = 0;    // cycles of the vector ALU (steps times slices)
  int64_t input_bytes = 0;  // of whole elements that some tap reads
  int64_t weight_bytes = 0, parameter_bytes = 0, output_bytes = 0;
  // GEMM, reset and ALU steps one after the other, or with OverlayHardware::gemm_beside_alu the larger of
  // (GEMM + reset) and ALU.
  double compute_cycles = 0;
  // Bytes by the width of the port. Reads and writes have channels of their own and take the longer of both;
  // behind MemoryModelKind::kDdr they share one bus.
  double port_cycles = 0;
  double cycles() const { return compute_cycles > port_cycles ? compute_cycles : port_cycles; }
  // Useful MACs / (cycles * MACs per micro-op): an upper bound for any schedule.
  double peak_share = 0;
};

// Of `layer` as it is (not folded).
LayerBound layer_bound(const OverlayLayer& layer, const OverlayHardware& hardware,
                       const MemoryModel& memory = {});

// At most the cycles of layer_cycles() for this tiling, which must fit: its bytes and steps, the ends of its
// instructions, and what nothing can overlap, the data of the first step and the stores of the last tile.
// Microseconds. Transfers of dense layers are counted exactly, of others at least once.
double schedule_bound(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory = {});

}  // namespace tilewright::overlay
