// The time of an allocation, by shape; estimate() puts it together with the resources. The formulas stand in
// docs/pipeline_models.md.
#pragma once

#include "tilewright/pipeline/estimate.h"
#include "tilewright/pipeline/layer_geometry.h"
#include "tilewright/pipeline/plan.h"

namespace tilewright::pipeline {

struct CycleEstimate {
  int64_t latency_cycles = 0, interval_cycles = 0;
  std::vector<LayerEstimate> layers;
};

CycleEstimate streaming_cycles(const Network& network, const Allocation& allocation, const MemoryPort& port);
CycleEstimate processor_cycles(const Network& network, const Allocation& allocation, const Plan& plan,
                               const MemoryPort& port);

// Cycles per beat of a port: 1 and the share of a burst after which it pauses.
double cycles_per_beat(const Allocation& allocation, const MemoryPort& port);
// Beats into the array and out of the finish for `pixels` output pixels of a layer, whichever are more.
int64_t array_cycles(const LayerGeometry& geometry, int64_t pixels);
// Words that a row-major feeder takes in for output rows [first_row, first_row + rows).
int64_t window_words(const LayerGeometry& geometry, int64_t first_row, int64_t rows);
// Bits of a layer's weights as they lie in memory, padding of words included.
int64_t stored_weight_bits(const LayerGeometry& geometry, int weight_bits);

}  // namespace tilewright::pipeline
