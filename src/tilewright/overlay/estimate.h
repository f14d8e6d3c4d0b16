// Closed-form cost of a layer under a schedule: cycles, traffic and micro-ops, without emitting a program.
//
// Model: three stages (load, compute, store) that run the steps of a StepPlan in order and wait for each
// other as the tokens make them; one read and one write port of the memory's width. One GEMM micro-op per
// cycle.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/overlay/tiling.h"

namespace tilewright::overlay {

// Cycles, of an overlay with one GEMM micro-op per cycle.
struct OverlayTiming {
  double gemm_uop = 1, alu_immediate = 1, alu_tensor = 2, alu_requantize = 4;  // per micro-op iteration
  double instruction = 8;      // start and drain of an instruction
  double memory_latency = 24;  // of a LOAD or STORE
  double row = 2;              // per further row of a transfer
};

struct LayerCost {
  double cycles = 0;
  double load_cycles = 0, compute_cycles = 0, store_cycles = 0, memory_cycles = 0;  // busy
  int64_t input_bytes = 0, weight_bytes = 0, parameter_bytes = 0, output_bytes = 0, uop_bytes = 0;
  int64_t gemm_uops = 0, reset_uops = 0, alu_uops = 0;  // executed iterations
  int64_t steps = 0, tiles = 0;
  double share_of_peak = 0;  // useful MACs / (cycles * MACs per micro-op)
};

LayerCost estimate_layer(const Tiling& tiling, const OverlayHardware& hardware,
                         const OverlayTiming& timing = {});

}  // namespace tilewright::overlay
