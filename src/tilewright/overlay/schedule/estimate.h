// Closed-form cost of a layer under a schedule: cycles, traffic and micro-ops, without emitting a program.
//
// Model: the modules of docs/design/overlay/overlay_rtl.md run the steps of a StepPlan in order and wait for
// each other as the tokens demand, each instruction at its closed form; the layer runs alone, from empty
// scratchpads to its last store response. Bytes and executed micro-ops are exact. Cycles ignore collisions of
// requests from different modules at the memory port and guess the number of micro-ops to load;
// docs/design/overlay/overlay.md states the error.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

struct TilingEstimate {
  double cycles = 0;
  double load_cycles = 0, compute_cycles = 0, store_cycles = 0;  // of instructions, waiting left out
  int64_t input_bytes = 0, weight_bytes = 0, parameter_bytes = 0, output_bytes = 0, uop_bytes = 0;
  int64_t gemm_uops = 0, reset_uops = 0, alu_uops = 0;  // executed iterations
  int64_t steps = 0, tiles = 0;
  double share_of_peak = 0;  // useful MACs / (cycles * MACs per micro-op)
};

TilingEstimate estimate_layer(const Tiling& tiling, const OverlayHardware& hardware,
                              const MemoryModel& memory = {});

}  // namespace tilewright::overlay
