// The time of an allocation, by shape; estimate() puts it together with the resources. The formulas are in
// docs/design/pipeline/pipeline_models.md.
#pragma once

#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/estimate/estimate.h"

namespace tilewright::pipeline {

struct CycleEstimate {
  int64_t latency_cycles = 0, interval_cycles = 0;
  std::vector<LayerEstimate> layers;
};

// The parameters of a streaming stage's timing. Times grow with every field, so fields that are none above
// those of any stage of a layer give a lower bound of the whole network's.
struct StageTiming {
  double row_cycles = 0;   // of an output row: beats into the array or out of the finish
  double first_words = 0;  // of the first output pixel
  double input_row = 0;    // cycles in which a row of the input can come in
  double depth = 0;        // of array and finish
  double drain = 0;        // of the last block of a pixel, which array and finish have one after the other
  // Cycles of an output pixel after the one that takes its last word. Lanes take the last pixel's words one
  // after another: this share of their arrival time is not waited for again.
  double tail = 0, tail_share = 0;
  double pace = 0;  // image_pace
};
// `input_elements`, `residual_elements`: that pass per cycle on the way to the stage, 0: as many as it takes.
StageTiming stage_timing(const LayerGeometry& geometry, int64_t input_elements = 0,
                         int64_t residual_elements = 0);
// Elements per cycle on the way of a tensor to a stage of `layer`, converters between widths included.
int64_t input_rate(const Network& network, const Allocation& allocation, size_t layer);
int64_t residual_rate(const Network& network, const Allocation& allocation, size_t layer);

struct StreamTimes {
  double latency_cycles = 0, interval_cycles = 0;
  std::vector<double> ends;  // of the layers' outputs
};
// `geometries`: shapes and windows; their arrays do not matter beside `timings`.
StreamTimes stream_times(const Network& network, const Allocation& frame, const MemoryPort& port,
                         const std::vector<LayerGeometry>& geometries,
                         const std::vector<StageTiming>& timings);

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
